"""What is claimed of profile, estimate and search, shown on this machine's GPU: `python -m egg.evals.claims --out DIR`.

Four commands, each with a results file and a log in DIR: three beside each other, which wait for the GPU by turns, then
the search, whose seconds count. What a file holds already is not done again, so the same line goes on where it stopped;
`--minutes` says when to stop. With `--plot` the estimator's picture is drawn too.

Exit code 0: all four are as claimed.
"""

import argparse
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic

from egg.evals.stopping import stoppable
from egg.state.errors import UserError
from egg.tools.device import detect_device

TOGETHER, ALONE = ("static_check", "estimator", "denied"), ("search_check",)
COMMANDS = (*TOGETHER, *ALONE)
ENDED, LATE = "as claimed", "no time was left"
UNSHOWN = "there is no GPU here to show it on; what needs none was done"


def command(name: str, folder: Path, plot: bool) -> list[str]:
    """What starts one of them."""
    line = [sys.executable, "-m", f"egg.evals.{name}", "--out", str(folder / f"{name}.json")]
    return [*line, "--plot", str(folder / "estimator.svg")] if plot and name == "estimator" else line


def run(name: str, folder: Path, plot: bool, seconds: float) -> str:
    """One of them, ended with all that it started when its time is over; its results so far are kept."""
    if seconds <= 0:
        return LATE
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.log").open("w") as log:
        process = subprocess.Popen(
            command(name, folder, plot), stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            return LATE
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    return ENDED if code == 0 else f"not as claimed, or not shown here ({code})"


def together(names: tuple[str, ...], folder: Path, plot: bool, until: float) -> dict[str, str]:
    """Several at once; each says how it ended, and what it found."""

    def one(name: str) -> str:
        began = monotonic()
        end = run(name, folder, plot, until - began)
        log = folder / f"{name}.log"
        said = log.read_text(errors="replace").rstrip() if log.exists() else ""
        print(f"== {name} ({monotonic() - began:.0f} s)\n{said}", flush=True)
        return end

    with ThreadPoolExecutor(max(1, len(names))) as pool:
        return dict(zip(names, pool.map(one, names), strict=True))


def main() -> int:
    """All of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of the results files")
    parser.add_argument("--only", nargs="*", default=list(COMMANDS), choices=COMMANDS, help="of the four")
    parser.add_argument("--minutes", type=float, default=9.0, help="for all together")
    parser.add_argument("--plot", action="store_true", help="draw the estimator's picture; needs matplotlib")
    options = parser.parse_args()
    try:
        present = detect_device(None).present
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    until = monotonic() + 60 * options.minutes
    ends: dict[str, str] = {}
    for group in (TOGETHER, ALONE):
        chosen = tuple(name for name in group if name in options.only)
        ends |= together(chosen, options.out, options.plot, until)
    if not present:
        ends = {name: UNSHOWN if end == ENDED else end for name, end in ends.items()}
    print("\n".join(f"{name:14} {end}" for name, end in ends.items()))
    return 0 if all(end == ENDED for end in ends.values()) else 1


if __name__ == "__main__":
    stoppable(main)
