"""How many blocks of a kernel a multiprocessor holds, and what bounds that number.

NVIDIA's rules, as its occupancy calculator has them (cuda_occupancy.h); for AMD's CDNA3 those of LLVM's AMDGPU backend,
where a compute unit has four SIMDs with registers of their own.
"""

from typing import NamedTuple

from egg.state.device import Device

WARP = 32
REGISTERS_UNIT = 256  # registers are given to a warp in units of this many, on every GPU since Volta
SCHEDULERS = 4  # each with a quarter of the registers, for whole warps
SHARED_UNIT = 128
SHARED_RESERVED = 1024  # what the driver keeps for itself in each block, on sm_80 and later
SIMDS, SIMD_WAVES, SIMD_REGISTERS = 4, 8, 512  # of a CDNA3 compute unit; registers of each of a wave's 64 lanes
VECTOR_REGISTERS_UNIT = 8
LDS_UNIT = 512


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
        registers: registers of a thread; on AMD vector registers, accumulation registers among them.
        shared_bytes: shared memory of a block, without what the driver reserves.
    """
    if device.amd:
        return _cdna(device, warps, registers, shared_bytes)
    most_warps = device.threads_sm // WARP
    per_warp = _round_up(max(registers, 1) * WARP, REGISTERS_UNIT)
    shared = _round_up(shared_bytes + SHARED_RESERVED, SHARED_UNIT)
    limits = {
        "warps": most_warps // warps,
        "blocks": device.blocks_sm,
        "registers": device.registers_sm // SCHEDULERS // per_warp * SCHEDULERS // warps,
        "shared": device.shared_bytes_sm // shared if shared_bytes <= device.shared_bytes else 0,
    }
    return _tightest(limits, warps, most_warps)


def _cdna(device: Device, warps: int, registers: int, shared_bytes: int) -> Occupancy:
    """A block's waves go to the SIMDs in turn; blocks of one wave need none of the barriers that bound their number."""
    each = min(SIMD_WAVES, SIMD_REGISTERS // _round_up(max(registers, 1), VECTOR_REGISTERS_UNIT))
    limits = {
        "warps": _spread(SIMD_WAVES, warps),
        "blocks": device.blocks_sm if warps > 1 else SIMDS * SIMD_WAVES,
        "registers": _spread(each, warps),
        "shared": device.shared_bytes_sm // max(LDS_UNIT, _round_up(shared_bytes, LDS_UNIT)),
    }
    return _tightest(limits, warps, SIMDS * SIMD_WAVES)


def _spread(waves_each: int, warps: int) -> int:
    """Blocks of so many waves that four SIMDs with room for so many waves each hold."""
    return waves_each // -(-warps // SIMDS) if warps >= SIMDS else SIMDS * waves_each // warps


def _tightest(limits: dict[str, int], warps: int, most_warps: int) -> Occupancy:
    limiter = min(limits, key=lambda name: limits[name])
    blocks = limits[limiter]
    return Occupancy(min(1.0, blocks * warps / most_warps), blocks, limiter)


def waves(device: Device, programs: int, blocks: int) -> float:
    """Grid size over the blocks resident on the whole GPU."""
    return programs / (max(blocks, 1) * device.multiprocessors)


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
