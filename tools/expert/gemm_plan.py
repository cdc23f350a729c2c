"""How long a matrix product should take, by method and tile: what the defaults and the moves reason from.

The efficiencies were measured on an H200 (4096 x 4096 x 4096, Triton 3.6) and serve as proportions elsewhere.
"""

from collections.abc import Iterator
from math import ceil
from typing import Any, Literal, NamedTuple, Self

from egg.state.device import Device
from egg.state.settings import Policy

Method = Literal["tf32x3", "tf32", "half", "fp16x3", "fp16x1", "ieee"]

EFFICIENCY: dict[Method, tuple[str, float]] = {
    "ieee": ("fp32", 0.68),
    "tf32x3": ("tf32", 0.19),
    "tf32": ("tf32", 0.50),
    "half": ("fp16", 0.55),
    "fp16x3": ("fp16", 0.20),
    "fp16x1": ("fp16", 0.55),
}
"""The peak a method draws on, and the part of it that the best tile reaches."""

LAUNCH_SECONDS = 4e-6
STREAM = 0.85
"""Part of the memory bandwidth that a streaming kernel reaches."""


class Product(NamedTuple):
    """batch x (M, K) @ (K, N)."""

    batch: int
    m: int
    n: int
    k: int
    item_bytes: int

    @property
    def bytes(self) -> int:
        return self.batch * (self.m * self.k + self.k * self.n + self.m * self.n) * self.item_bytes


class Tile(NamedTuple):
    """BLOCK_M, BLOCK_N, BLOCK_K, num_warps, num_stages."""

    m: int
    n: int
    k: int
    warps: int
    stages: int

    @classmethod
    def of(cls, tiling: dict[str, Any], memory: dict[str, Any]) -> Self:
        """From the two groups of a spec."""
        m, n, k = (int(tiling[name]) for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K"))
        return cls(m, n, k, warps=int(tiling["num_warps"]), stages=int(memory["num_stages"]))


TILES: dict[tuple[int, int], tuple[int, float]] = {
    (128, 128): (8, 1.0),
    (256, 128): (8, 1.0),
    (128, 256): (8, 1.0),
    (128, 64): (4, 0.85),
    (64, 128): (4, 0.85),
    (64, 64): (4, 0.70),
    (128, 32): (4, 0.60),
    (32, 128): (4, 0.55),
    (64, 32): (4, 0.50),
    (32, 64): (4, 0.45),
    (128, 16): (4, 0.40),
    (64, 16): (4, 0.30),
    (32, 32): (4, 0.30),
    (16, 128): (4, 0.35),
    (16, 64): (4, 0.25),
    (16, 32): (2, 0.15),
    (32, 16): (2, 0.15),
    (16, 16): (1, 0.08),
}
"""Warps, and throughput relative to the largest tile, where both fill the GPU."""


def modern(device: Device) -> bool:
    """Whether there is wgmma or its successor, and TMA. sm_120 has TMA only, and few registers for an old product."""
    return not device.amd and (9, 0) <= device.capability < (12, 0)


def method(dtype: str, structure: str, policy: Policy, device: Device) -> Method:
    """How the products are made. IEEE accuracy in fp32 unless the policy is `tf32`; fp32 sums always.

    AMD's matrix units take fp32 itself, and Triton has no three passes of TF32 for them.
    """
    if dtype != "float32":
        return "half"
    if structure == "scaled_fp16":
        return "fp16x1" if policy is Policy.TF32 else "fp16x3"
    if policy is Policy.TF32:
        return "tf32"
    return "ieee" if device.amd else "tf32x3"


def method_of(structure: dict[str, Any]) -> Method:
    """The method in a spec's structure, or the nearest one that goes with its name: an edit may change either alone."""
    chosen: Method = structure["method"]
    if structure["name"] == "scaled_fp16":
        return chosen if chosen in ("fp16x3", "fp16x1") else "fp16x1" if chosen == "tf32" else "fp16x3"
    return {"fp16x3": "tf32x3", "fp16x1": "tf32"}.get(chosen, chosen)  # type: ignore[return-value]


def depth(method: Method, k: int, device: Device) -> int:
    """BLOCK_K: 128 bytes of a row, less where three products keep more of it in registers."""
    block = {"tf32x3": 32 if modern(device) else 16, "tf32": 32, "ieee": 16}.get(method, 64)
    return max(16, min(block, 1 << (k - 1).bit_length()))


def shared_bytes(method: Method, tile: Tile) -> int:
    """Shared memory of the pipelined operands, as Triton lays it out for wgmma.

    Operands that pass through registers (fp32, for rounding) leave their stage early, but b's parts are stored again.
    """
    operand = {"fp16x1": 2, "half": 2}.get(method, 4)
    copies = {"tf32x3": 2, "tf32": 1}.get(method, 0)
    buffers = max(1, tile.stages - (1 if copies or method == "ieee" else 0))
    return tile.k * operand * ((tile.m + tile.n) * buffers + tile.n * copies)


def stages(method: Method, tile: Tile, device: Device) -> Tile:
    """The tile with as many pipeline stages as shared memory takes, three at most."""
    for count in (3, 2, 1):
        if shared_bytes(method, tile._replace(stages=count)) <= device.shared_bytes - 1024:
            return tile._replace(stages=count)
    return tile._replace(stages=1)


def candidates(product: Product, method: Method, device: Device) -> Iterator[Tile]:
    """Tiles that make sense: no larger than the product needs, none that spills."""
    k = depth(method, product.k, device)
    most = 256 * 128 if method == "half" else 128 * 128
    if not modern(device):
        most = 64 * 64 if method in ("tf32x3", "fp16x3") else 128 * 128
    for (m, n), (warps, _) in TILES.items():
        too_large = (m > 16 and m >= 2 * product.m) or (n > 16 and n >= 2 * product.n)
        if not too_large and m * n <= most:  # larger ones spill
            yield stages(method, Tile(m, n, k, warps, 3), device)


def seconds(product: Product, method: Method, tile: Tile, device: Device, chunks: int = 1) -> float:
    """Predicted time of the whole product, for comparing decisions only."""
    precision, efficiency = EFFICIENCY[method]
    peak = device.peak.get(precision) or device.peak["fp32"]
    rate = peak * efficiency * TILES.get((tile.m, tile.n), (4, 0.5))[1] / device.multiprocessors
    programs = product.batch * ceil(product.m / tile.m) * ceil(product.n / tile.n) * chunks
    compute = ceil(programs / device.multiprocessors) * 2 * tile.m * tile.n * (product.k / chunks) / rate
    # Few programs cannot draw the whole bandwidth either.
    share = min(1.0, programs / device.multiprocessors)
    move = product.bytes / (device.bandwidth * STREAM * share)
    extra = 0.0
    if chunks > 1:
        extra += LAUNCH_SECONDS + 8 * chunks * product.batch * product.m * product.n / (device.bandwidth * STREAM)
    if method in ("fp16x3", "fp16x1"):
        copied = product.batch * (product.m + product.n) * product.k * (8 if method == "fp16x3" else 6)
        extra += 2 * LAUNCH_SECONDS + copied / (device.bandwidth * STREAM)
    return max(compute, move) + LAUNCH_SECONDS + extra


def best_tile(product: Product, method: Method, device: Device, chunks: int = 1) -> Tile:
    """The candidate with the shortest predicted time."""
    return min(candidates(product, method, device), key=lambda tile: seconds(product, method, tile, device, chunks))


def best_chunks(product: Product, method: Method, device: Device) -> tuple[int, Tile]:
    """Chunks of K, at least two and each worth four steps, and the tile to go with them."""
    options = []
    for chunks in (2, 4, 8, 16, 32, 64, 128):
        tile = best_tile(product, method, device, chunks)
        if chunks == 2 or product.k // chunks >= 4 * tile.k:
            options.append((seconds(product, method, tile, device, chunks), chunks, tile))
    _, chunks, tile = min(options)
    return chunks, tile


def rows_of_tiles(product: Product, tile: Tile) -> int:
    """GROUP_M: as many rows of tiles as make the group about square, eight at most."""
    return max(1, min(8, ceil(product.m / tile.m)))
