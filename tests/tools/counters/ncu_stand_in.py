"""Stands in for Nsight Compute where there is no GPU: the same command line, conversation and table, no counters.

How it behaves is in the file `behaviour` beside it: `plain`, `unknown`, `denied`, `silent`.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

METRICS = """
sm__throughput gpu__dram_throughput lts__t_sector_hit_rate sm__warps_active gpu__time_duration dram__bytes_op_read
smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active smsp__average_warp_latency_per_inst_issued
l1tex__t_sector_hit_rate sm__pipe_tensor_cycles_active
""".split()  # noqa: SIM905
GONE = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
DENIED = "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters"
COLUMNS = [
    *("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size"),
    *("Device", "CC"),
]


def main() -> int:
    arguments = sys.argv[1:]
    behaviour = (Path(__file__).parent / "behaviour").read_text().strip()
    if arguments == ["--version"]:
        print("NVIDIA (R) Nsight Compute Command Line Profiler\nVersion 2025.3.1.0 (build 1)")
        return 0
    if arguments == ["--query-metrics"]:
        print("Device NVIDIA H200 (GH100)\n" + "\n".join(f"{name}  Counter  %  what it is" for name in known()))
        return 0
    options = dict(zip(arguments[::2], arguments[1::2], strict=False))
    start = arguments.index(next(one for one in arguments if one.startswith(sys.exec_prefix) or "python" in one))
    names, log = options["--metrics"].split(","), Path(options["--log-file"])
    if behaviour == "unknown" and GONE in names:
        log.write_text(f"==ERROR== Failed to find metric regex:^{GONE}(\\.(sum|avg|min|max))?$\n")
        return 1
    if behaviour == "silent":
        return 9
    converse()
    if behaviour == "denied":
        log.write_text(f"==PROF== Connected to process 7 (python)\n{DENIED}\n")
        return 0
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    code = subprocess.run(arguments[start:], env=environment, check=False).returncode
    launches = json.loads(Path("launches.json").read_text())
    log.write_text("==PROF== Connected to process 7 (python)\n" + table(launches, names))
    return code


def known() -> list[str]:
    return METRICS + [f"sm__filler_{number}" for number in range(120)]


def converse() -> None:
    """As the real one does with the program that it profiles: a socket with a name, in the temporary folder."""
    folder = tempfile.mkdtemp()
    os.mkfifo(f"{folder}/pipe-1")
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as end:
        listener.bind(f"{folder}/here")
        listener.listen()
        end.connect(f"{folder}/here")
        listener.accept()[0].close()


def table(launches: list[dict[str, object]], names: list[str]) -> str:
    rows = [[*COLUMNS, *names], [""] * len(COLUMNS) + ["%"] * len(names)]
    for number, launch in enumerate(launches):
        grid = "(" + ", ".join(map(str, [*launch["grid"], 1, 1, 1][:3])) + ")"  # type: ignore[misc]
        values = [f"{1000 * (number + 1) + place:,}" for place in range(len(names))]
        rows.append(
            [str(number), "7", "python", "here", str(launch["name"]), "1", "7", "(128, 1, 1)", grid, "0", "9.0"]
        )
        rows[-1] += values
    return "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in rows)


if __name__ == "__main__":
    sys.exit(main())
