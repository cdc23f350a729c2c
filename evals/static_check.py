"""What is told without a GPU beside what Nsight Compute reads: `python -m egg.evals.static_check --out FILE`.

Registers, shared memory and occupancy of every kernel of a few programs of the expert library must be equal, and in a
program of three kernels each must have the share of the time that Nsight Compute sees, within 3 %. A program that is
done is not profiled again. Without a GPU the kernels are compiled and nothing is compared.

Exit code 0: all equal and 20 kernels at least, or there is no GPU.
"""

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import Any

from egg.evals.library import PROBLEMS
from egg.evals.resume import Json, Parts
from egg.evals.stopping import stoppable
from egg.state.device import Device
from egg.state.errors import UserError
from egg.state.profile import KernelProfile, Profile
from egg.state.settings import Policy
from egg.tools.device import detect_device
from egg.tools.expert import library_version, write_kernel
from egg.tools.problem import load_problem
from egg.tools.profile import profile_forward
from egg.tools.sandbox.client import shutdown
from egg.tools.store import Store

VERSION = 1
THREE = ("attention_full", "generic")
"""Product, softmax, product: three kernels that all take long."""
PROGRAMS = (
    THREE,
    ("mlp_mean", "algebraic_collapse"),
    ("transformer_block", "scaled_fp16"),
    ("cross_entropy", "split_classes"),
    ("softmax_long", "split"),
)
LEAST_KERNELS = 20
SAME = 0.006
"""Occupancies are equal within this: one of them is a percentage with few digits."""
WITHIN = 0.03
UNTIMED = "no times by CUPTI"
"""In a profile's note: its times are Nsight Compute's own, and say nothing beside them."""


def compared(profile: Profile) -> list[Json]:
    """A row for each of the candidate's own kernels: what compiling told, what was counted, what differs."""
    total = sum(_counted_ms(kernel) or 0.0 for kernel in profile.kernels)
    return [_row(kernel, total) for kernel in profile.kernels if kernel.own and kernel.launch]


def _row(kernel: KernelProfile, total: float) -> Json:
    launch, seen = kernel.launch, kernel.counters
    assert launch is not None
    static = {"registers": launch.registers, "shared_bytes": launch.shared_bytes, "occupancy": launch.occupancy}
    counted: dict[str, float | None] = {
        "registers": seen.get("registers"),
        "shared_bytes": seen["shared_dynamic"] + seen.get("shared_static", 0.0) if "shared_dynamic" in seen else None,
        "occupancy": seen["occupancy"] / 100 if "occupancy" in seen else None,
    }
    differs = [name for name, value in counted.items() if value is not None and abs(value - static[name]) > SAME]
    mine = _counted_ms(kernel)
    return {
        "kernel": kernel.kernel,
        "grid": list(launch.grid),
        "warps": launch.warps,
        "static": static,
        "counted": counted,
        "compared": all(value is not None for value in counted.values()),
        "differs": differs,
        "calls": kernel.calls,
        "profile_ms": kernel.ms if kernel.measured else None,
        "counted_ms": mine,
        "share": kernel.share if kernel.measured else None,
        "counted_share": mine / total if mine is not None and total else None,
    }


def _counted_ms(kernel: KernelProfile) -> float | None:
    duration = kernel.counters.get("duration")
    return duration / 1e6 if duration else None


def summary(parts: dict[str, Json]) -> Json:
    """How many kernels were compared, which differ, and by how much shares of the time do."""
    rows = [row | {"program": name} for name, part in parts.items() for row in part["kernels"]]
    three = parts.get("-".join(THREE), {}).get("kernels", [])
    shares = {row["kernel"]: _apart(row) for row in three if _apart(row) is not None}
    return {
        "kernels": len(rows),
        "compared": sum(row["compared"] for row in rows),
        "differ": [f"{row['program']}: {row['kernel']}: {', '.join(row['differs'])}" for row in rows if row["differs"]],
        "shares_apart": shares,
        "timed_apart": not any(UNTIMED in part["note"] for part in parts.values()),
        "notes": sorted({part["note"] for part in parts.values() if part["note"]}),
    }


def _apart(row: Json) -> float | None:
    """By what part the profile's share of the time is larger or smaller than the counted one."""
    if not row["share"] or not row["counted_share"]:
        return None
    return abs(float(row["share"] / row["counted_share"]) - 1)


def told(found: Json) -> str:
    """The summary in a few lines."""
    lines = [f"{found['compared']} of {found['kernels']} kernels compared, {len(found['differ'])} differ"]
    lines += [f"!! {line}" for line in found["differ"]]
    lines += [f"   {name}: share of the time {apart:.1%} apart" for name, apart in found["shares_apart"].items()]
    return "\n".join([*lines, *(f"   {note}" for note in found["notes"])])


def passed(found: Json) -> bool:
    """Whether this is what was promised."""
    near = len(found["shares_apart"]) == 3 and max(found["shares_apart"].values()) <= WITHIN
    return found["compared"] >= LEAST_KERNELS and not found["differ"] and near and found["timed_apart"]


def _part(program: tuple[str, str], device: Device, store: Store) -> Json:
    problem = load_problem(str(PROBLEMS / f"{program[0]}.py"))
    skeleton = write_kernel(problem, policy=Policy.STOCK, device=device, structure=program[1], store=store)
    profile = profile_forward(problem, skeleton.source, device, Policy.STOCK, store)
    return {"source": profile.source, "note": profile.note, "kernels": compared(profile)}


def main() -> int:
    """Profile, compare, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="problems; all programs by default")
    parser.add_argument("--out", type=Path, required=True, help="results file; what it holds already is not done again")
    options = parser.parse_args()
    names = ["-".join(program) for program in PROGRAMS]
    try:
        device = detect_device(None)
        parts = Parts(options.out, "python -m egg.evals.static_check", device, Policy.STOCK, VERSION, names)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    store = Store()
    of: Any = library_version()
    for program in PROGRAMS:
        if not options.names or program[0] in options.names:
            part = parts.get("-".join(program), partial(_part, program, device, store), of)
            counted = sum(row["compared"] for row in part["kernels"])
            print(f"{program[0]:20} {program[1]:20} {len(part['kernels'])} kernels, {counted} counted", flush=True)
    found = summary(parts.found)
    parts.write({"summary": found})
    print(told(found))
    shutdown()
    return 0 if passed(found) or not device.present else 1


if __name__ == "__main__":
    stoppable(main)
