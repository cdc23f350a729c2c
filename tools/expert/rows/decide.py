"""First decisions for a region of rows: structure, work per program, blocks, warps. Pure.

The sizes come from measurements on Hopper: a streaming kernel is at the copy's rate with about four to sixteen elements
a thread, many warps and short steps, and at half of it with many unrolled loads a thread.
"""

from typing import Any

from egg.state.device import Device
from egg.tools.expert.spec import Values

IN_REGISTERS = 16384
"""Elements of a row that one block holds without pressure on its registers: 16 for each of 1024 threads."""
AT_MOST = 32768
"""Longest row for which holding it is worth a try."""
STEP = 4096
"""Elements of one step along a long row."""
PARTS = 16384
"""Parts, over all lanes, that one program puts together."""


def power_of_two(number: int) -> int:
    """The next one, at least 1."""
    return 1 << max(0, number - 1).bit_length()


def structures(facts: Values) -> tuple[str, ...]:
    """Best first."""
    looped = ["online", "two_pass"] if facts["merges"] else ["online"]
    width = power_of_two(facts["cols"])
    if facts["form"] == "columns":
        whole = width <= 512
        best_whole = whole and facts["maps"]
    else:
        whole = width <= AT_MOST
        best_whole = width <= (IN_REGISTERS if facts["maps"] else STEP)
    few = programs(facts) < facts["sms"] and facts["cols"] * facts["lanes"] >= 4 * STEP
    order = ["split"] if few else []
    order += ["one_pass", *looped] if best_whole else [*looped, *(["one_pass"] if whole else [])]
    if not few and facts["cols"] >= 2 * STEP and programs(facts) < 4 * facts["sms"]:
        order.append("split")
    return tuple(order)


def programs(facts: Values) -> int:
    """Programs of a looped kernel with one row (or one tile of lanes) each."""
    tiles = -(-facts["lanes"] // 512) if facts["form"] == "columns" else 1
    return int(facts["rows"] * tiles)


def decisions(structure: str, facts: Values, device: Device) -> dict[str, Values]:
    """The four groups for this structure."""
    choose = {("rows", True): _whole_rows, ("rows", False): _pieces_of_rows}
    choose |= {("columns", True): _whole_columns, ("columns", False): _pieces_of_columns}
    mapping, tiling = choose[facts["form"], structure == "one_pass"](facts, device)
    if device.amd:  # whose warps have twice the lanes
        tiling["num_warps"] = max(1, tiling["num_warps"] // 2)
    if structure == "split":
        mapping = {"SPLITS": _splits(facts, tiling, device)}
    memory: dict[str, Any] = {"num_stages": 1}
    if structure != "one_pass":
        memory["eviction"] = "none"
    return {"structure": {"name": structure}, "mapping": mapping, "tiling": tiling, "memory": memory}


def _whole_rows(facts: Values, device: Device) -> tuple[Values, Values]:
    width = power_of_two(facts["cols"])
    rows = max(1, 1024 // width)
    while rows > 1 and facts["rows"] // rows < 2 * device.multiprocessors:
        rows //= 2
    warps = min(32, max(1, rows * width // 256))
    return {"ROWS": rows, "persistent": False}, {"num_warps": warps}


def _pieces_of_rows(facts: Values, device: Device) -> tuple[Values, Values]:
    block = min(STEP, power_of_two(facts["cols"]))
    return {"ROWS": 1}, {"BLOCK": block, "num_warps": max(1, min(16, block // 256))}


def _whole_columns(facts: Values, device: Device) -> tuple[Values, Values]:
    width = power_of_two(facts["cols"])
    lanes = min(power_of_two(facts["lanes"]), max(16, 8192 // width), 1024)
    while lanes > 32 and facts["rows"] * -(-facts["lanes"] // lanes) < 2 * device.multiprocessors:
        lanes //= 2
    return {}, {"LANES": lanes, "num_warps": max(1, min(16, width * lanes // 512))}


def _pieces_of_columns(facts: Values, device: Device) -> tuple[Values, Values]:
    lanes = min(power_of_two(facts["lanes"]), STEP)
    while lanes > 128 and facts["rows"] * -(-facts["lanes"] // lanes) < 0.75 * device.multiprocessors:
        lanes //= 2
    block = max(1, min(power_of_two(facts["cols"]), STEP // lanes))
    return {}, {"BLOCK": block, "LANES": lanes, "num_warps": max(4, min(32, block * lanes // 128))}


def _splits(facts: Values, tiling: Values, device: Device) -> int:
    tiles = facts["rows"] * -(-facts["lanes"] // tiling.get("LANES", 1))
    wanted = power_of_two(-(-4 * device.multiprocessors // tiles))
    return max(2, min(wanted, power_of_two(facts["cols"] // tiling["BLOCK"]), most_splits(tiling)))


def most_splits(tiling: Values) -> int:
    """Parts of a row that one program can put together in registers."""
    return int(min(1024, max(2, PARTS // tiling.get("LANES", 1))))
