"""The page on bottlenecks names every kind, and the thresholds that are in force."""

import re
from pathlib import Path

from egg.state.bottleneck import BottleneckKind
from egg.tools.bottleneck import causes, resources, uses
from egg.tools.bottleneck.classify import AT_CEILING
from egg.tools.estimate import LAUNCH_MS

PAGE = (Path(__file__).parents[2] / "docs" / "bottlenecks.md").read_text()
ROWS = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", PAGE, re.MULTILINE))


def test_every_kind_has_a_row() -> None:
    assert {*ROWS} == {str(kind) for kind in BottleneckKind}


def test_the_thresholds_are_those_in_force() -> None:
    said = {name: set(re.findall(r"\d+(?:\.\d+)?", row)) for name, row in ROWS.items()}
    meant = {
        "launch_bound": {1e3 * LAUNCH_MS},
        "at_ceiling": {100 - AT_CEILING},
        "spills": {causes.SPILLED_BYTES, causes.SPILLED_SHARE},
        "too_few_programs": {causes.PROGRAMS_A_MULTIPROCESSOR, causes.WARPS_A_MULTIPROCESSOR},
        "imbalance": {causes.FILLED},
        "memory_bandwidth": {uses.WELL_USED, uses.WELL_USED_OF_DATASHEET["memory"]},
        "l2": {uses.WELL_USED, resources.REREAD},
        "l1": {uses.WELL_USED},
        "compute": {uses.WELL_USED, uses.WELL_USED_OF_DATASHEET["matrix"], uses.WELL_USED_PLAIN},
        "occupancy": {resources.OCCUPANCY, resources.OCCUPANCY_OF_PRODUCTS},
        "tensor_pipe_starved": set(),
        "memory_latency": {resources.STALLED},
    }
    assert {name: {float(number) for number in numbers} for name, numbers in said.items()} == meant
