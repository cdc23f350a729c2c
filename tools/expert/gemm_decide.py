"""First decisions for a matrix product: which structures are worth a seed, and the tile, order and stages of each."""

from math import ceil
from typing import Any

from egg.state.device import Device
from egg.state.settings import Policy
from egg.tools.datasheet import LIMITS, of_target, peaks
from egg.tools.expert.gemm_plan import (
    Product,
    Tile,
    best_chunks,
    best_tile,
    candidates,
    method,
    modern,
    rows_of_tiles,
    seconds,
)

HOPPER = of_target("sm_90")
NOMINAL = Device(
    name=HOPPER.name,
    target=HOPPER.target,
    present=False,
    multiprocessors=HOPPER.multiprocessors,
    l2_bytes=HOPPER.l2_bytes,
    memory_bytes=HOPPER.memory_bytes,
    bandwidth=HOPPER.bandwidth,
    peak=peaks(HOPPER),
    rates_from="datasheet",
    software={},
    **LIMITS["sm_90"]._asdict(),
)
"""What structures are ordered for before a device is known; the judge decides in the end."""

WORTH_A_SEED = 3.0
"""A third structure predicted to take longer than this many times the best is not offered."""

COPY_WORTH = 256
"""Rows of the output from which a copy of b along K pays: it is read once and used this often."""

WIDENED = Tile(256, 128, 64, warps=8, stages=3)
"""For int8 weights: a block of them, widened once, serves twice as many rows as in the tile that is best elsewhere."""


def enough(product: Product, tile: Tile, device: Device) -> bool:
    """Whether the tile fits and leaves every multiprocessor something to do."""
    programs = product.batch * (product.m // tile.m) * ceil(product.n / tile.n)
    return programs >= device.multiprocessors and tile in candidates(product, "half", device)


def product_of(facts: dict[str, Any]) -> Product:
    """The sizes, from a region's facts."""
    return Product(*(int(facts[name]) for name in Product._fields))


def predicted(facts: dict[str, Any], structure: str, policy: Policy, device: Device) -> float:
    """Seconds of a structure with its default decisions."""
    chosen = decide(facts, structure, policy, device)
    kind = method(facts["dtype"], structure, policy, device)
    tile, chunks = Tile.of(chosen["tiling"], chosen["memory"]), chosen["mapping"].get("CHUNKS", 1)
    return seconds(product_of(facts), kind, tile, device, chunks)


def likely_structures(facts: dict[str, Any], device: Device) -> tuple[str, ...]:
    """Structures in the order of their predicted times, the hopeless left out."""
    product, names = product_of(facts), ["tiled"]
    tiles = product.batch * ceil(product.m / 128) * ceil(product.n / 128)
    if product.k >= 512 and tiles < 2 * device.multiprocessors:
        names.append("split_k")
    if facts["dtype"] == "float32" and not facts["int8"]:
        names.append("scaled_fp16")
    times = {name: predicted(facts, name, Policy.STOCK, device) for name in names}
    best = min(times.values())
    ranked = sorted(names, key=lambda name: times[name])
    return tuple(name for i, name in enumerate(ranked) if i < 2 or times[name] <= WORTH_A_SEED * best)


def decide(facts: dict[str, Any], structure: str, policy: Policy, device: Device) -> dict[str, dict[str, Any]]:
    """The four groups of decisions."""
    product = product_of(facts)
    kind = method(facts["dtype"], structure, policy, device)
    chunks, tile = 1, best_tile(product, kind, device)
    if facts["int8"] and kind == "half" and (tile.m, tile.n) == (128, 128) and enough(product, WIDENED, device):
        tile = WIDENED
    if structure == "split_k":
        chunks, tile = best_chunks(product, kind, device)
    mapping: dict[str, Any] = {"GROUP_M": rows_of_tiles(product, tile)}
    tiling: dict[str, Any] = {"BLOCK_M": tile.m, "BLOCK_N": tile.n, "BLOCK_K": tile.k, "num_warps": tile.warps}
    memory: dict[str, Any] = {"num_stages": tile.stages}
    if structure == "split_k":
        mapping["CHUNKS"] = chunks
    if structure == "scaled_fp16":
        tiling["SPLIT_C"] = max(64, min(2048, 1 << (product.k - 1).bit_length()))
        memory["loads"] = "tma" if modern(device) else "pointer"
    elif kind in ("tf32", "tf32x3"):
        copy = not facts["b_along_k"] and product.m >= COPY_WORTH and modern(device)
        memory["b_order"] = "k_contiguous" if copy else "as_is"
    return {"structure": {"name": structure, "method": kind}, "mapping": mapping, "tiling": tiling, "memory": memory}
