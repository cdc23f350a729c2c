"""How many blocks of a kernel a multiprocessor holds, and what bounds that number."""

from typing import NamedTuple

from egg.state.device import Device

WARP = 32
REGISTERS_UNIT = 256  # registers are given to a warp in units of this many, on every GPU since Volta
SHARED_UNIT = 128
SHARED_RESERVED = 1024  # what the driver keeps for itself in each block, on sm_80 and later


class Occupancy(NamedTuple):
    """`fraction` of the warps a multiprocessor can hold; `blocks` of them resident; the `limiter`."""

    fraction: float
    blocks: int
    limiter: str


def occupancy(device: Device, *, warps: int, registers: int, shared_bytes: int) -> Occupancy:
    """Resident blocks by the tightest of four limits; zero blocks if one block does not fit.

    Args:
        device: the GPU's limits.
        warps: warps of a block.
        registers: registers of a thread.
        shared_bytes: shared memory of a block, without what the driver reserves.
    """
    most_warps = device.threads_sm // WARP
    per_warp = _round_up(max(registers, 1) * WARP, REGISTERS_UNIT)
    shared = _round_up(shared_bytes + SHARED_RESERVED, SHARED_UNIT)
    limits = {
        "warps": most_warps // warps,
        "blocks": device.blocks_sm,
        "registers": device.registers_sm // per_warp // warps,
        "shared": device.shared_bytes_sm // shared if shared_bytes <= device.shared_bytes else 0,
    }
    limiter = min(limits, key=lambda name: limits[name])
    blocks = limits[limiter]
    return Occupancy(min(1.0, blocks * warps / most_warps), blocks, limiter)


def waves(device: Device, programs: int, blocks: int) -> float:
    """Grid size over the blocks resident on the whole GPU."""
    return programs / (max(blocks, 1) * device.multiprocessors)


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
