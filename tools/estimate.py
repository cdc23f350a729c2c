"""Predicted time of a launch on a GPU that need not be here: for ranking candidates, never for a claim.

Four times are worked out (device memory, second-level cache, arithmetic, latency of one program's loop); the longest
counts whole and a quarter of each other one besides, since they overlap but not perfectly. So the prediction grows with
bytes, with FLOPs and with spills, and with whatever leaves multiprocessors idle: low occupancy, part-filled last waves,
few programs. Constants are rounded from an H200's measurements of tuned Triton kernels.
"""

from math import ceil, prod
from typing import NamedTuple

from pydantic import Field

from egg.state.device import Device
from egg.state.record import Record
from egg.state.settings import Policy
from egg.tools.occupancy import Occupancy, occupancy, waves

LAUNCH_MS = 4e-3
STREAM = 0.9  # share of the datasheet's bandwidth that a plain copy reaches
CACHE_PER_SM = 85e9  # second-level cache to one multiprocessor, bytes/s
SM_STREAM = 2.5  # one multiprocessor can draw this many times its share of device memory's bandwidth
FLIGHT_BYTES = 24 << 10  # bytes a multiprocessor must have under way to keep device memory busy
START_MS = 2e-3  # a program's start and end: first load, last store
STEP_MS = 0.8e-3  # one turn of a loop whose loads are not overlapped
REACHED = {"tcgen05": 0.6, "wgmma": 0.6, "mma": 0.6, "none": 0.65}
OLD_MMA_ON_HOPPER = 0.18  # mma.sync there: 4096^3 TF32 in 1.585 ms
OVERLAP = 0.25


class LaunchFacts(Record):
    """What is known of a launch once it is compiled: from the cubin, from the TTIR, from its arguments."""

    kernel: str
    grid: tuple[int, ...]
    warps: int
    stages: int
    registers: int
    spills: int
    shared_bytes: int
    bytes: int = Field(description="Distinct tensor bytes that the arguments span")
    tensor_core: str = "none"
    load_bytes: float = 0.0
    store_bytes: float = 0.0
    dots: dict[str, float] = {}
    alu: float = 0.0
    step_bytes: float = 0.0
    steps: float = 1.0


class TorchFacts(Record):
    """One operator that PyTorch does within a candidate."""

    name: str
    bytes: int
    flops: float
    dtype: str = Field(description="`float32`; of the first floating-point argument")


class Prediction(NamedTuple):
    """Milliseconds, what bounds them, and the occupancy they rest on."""

    ms: float
    bottleneck: str
    occupancy: Occupancy
    waves: float


def predict(device: Device, launch: LaunchFacts) -> Prediction:
    """Predicted time of one launch, its overhead included. A kernel that does not fit takes forever."""
    resident = occupancy(device, warps=launch.warps, registers=launch.registers, shared_bytes=launch.shared_bytes)
    filled = waves(device, prod(launch.grid), resident.blocks)
    if resident.blocks == 0:
        return Prediction(float("inf"), "occupancy", resident, filled)
    streaming = _streaming(device, launch, resident)
    times = {
        "memory": _memory_ms(device, launch, resident) / streaming,
        "cache": _cache_ms(device, launch),
        "compute": _compute_ms(device, launch, resident),
        "latency": _latency_ms(launch, resident, filled),
    }
    longest = max(times, key=lambda name: times[name])
    spilling = 1.0 + min(launch.spills, 1024) / 256
    work = (times[longest] + OVERLAP * (sum(times.values()) - times[longest])) * spilling
    bottleneck = _name(longest, work, launch, streaming)
    return Prediction(work + LAUNCH_MS, bottleneck, resident, filled)


def predict_torch(device: Device, policy: Policy, op: TorchFacts) -> float:
    """Milliseconds of an operator that stays with PyTorch's own kernels."""
    unit = {"float16": "fp16", "bfloat16": "bf16", "int8": "int8"}.get(op.dtype, "fp32")
    if unit == "fp32" and (policy is Policy.TF32 or (policy is Policy.STOCK and "conv" in op.name)):
        unit = "tf32"
    return LAUNCH_MS + _ms(op.bytes, device.bandwidth * STREAM) + _ms(op.flops, device.peak[unit] * 0.75)


def _memory_ms(device: Device, launch: LaunchFacts, resident: Occupancy) -> float:
    """Every byte that the arguments span crosses once, and no more than the kernel touches.

    What a program reads again crosses again if the resident programs' data do not fit the second-level cache; not in
    products, whose programs read each other's data.
    """
    touched = launch.load_bytes + launch.store_bytes
    moved = min(launch.bytes, touched) if touched else launch.bytes
    if touched > moved and not launch.dots:
        programs = prod(launch.grid)
        at_once = min(programs, resident.blocks * device.multiprocessors)
        held = launch.load_bytes / programs * at_once / device.l2_bytes
        moved += (touched - moved) * min(1.0, max(0.0, 2 * held - 1))
    return _ms(moved, device.bandwidth * STREAM)


def _streaming(device: Device, launch: LaunchFacts, resident: Occupancy) -> float:
    """Share of the streaming rate that the launch's parallelism can draw, in (0, 1]."""
    programs = prod(launch.grid)
    busy = min(1.0, SM_STREAM * programs / device.multiprocessors)
    blocks = min(resident.blocks, max(1.0, programs / device.multiprocessors))
    under_way = blocks * max(launch.step_bytes, 512.0) * max(1, launch.stages - 1 if launch.steps > 1 else 1)
    return (
        busy
        * under_way
        / (under_way + FLIGHT_BYTES / 4)
        * (0.7 + 0.3 * _tail(waves(device, programs, resident.blocks)))
    )


def _cache_ms(device: Device, launch: LaunchFacts) -> float:
    busy = min(1.0, prod(launch.grid) / device.multiprocessors)
    return _ms(launch.load_bytes + launch.store_bytes, device.multiprocessors * CACHE_PER_SM * busy)


def _compute_ms(device: Device, launch: LaunchFacts, resident: Occupancy) -> float:
    reached = REACHED.get(launch.tensor_core, 0.6)
    if launch.tensor_core == "mma" and device.target in ("sm_90", "sm_100"):
        reached = OLD_MMA_ON_HOPPER
    dots = sum(
        _ms(flops, device.peak[unit] * (REACHED["none"] if unit == "fp32" else reached))
        for unit, flops in launch.dots.items()
    )
    plain = _ms(launch.alu, device.peak["fp32"] / 2)
    hidden = min(1.0, (resident.fraction / 0.25) ** 0.5) if not launch.dots else min(1.0, resident.fraction / 0.06)
    programs = prod(launch.grid)
    filled = _tail(programs / device.multiprocessors / min(resident.blocks, max(1, programs // device.multiprocessors)))
    return (dots + plain) / hidden / filled


def _latency_ms(launch: LaunchFacts, resident: Occupancy, filled: float) -> float:
    step = STEP_MS / max(1, launch.stages if launch.dots else min(launch.stages, 2))
    alone = START_MS + max(0.0, launch.steps - 1) * step / (1 + 0.2 * launch.warps)
    return float(ceil(max(filled, 1e-9)) ** 0.5) * alone


def _tail(filled: float) -> float:
    """Share of the time in which the multiprocessors have a program: what the last, part-filled wave leaves."""
    return max(filled, 1e-6) / ceil(max(filled, 1e-6))


def _name(longest: str, work: float, launch: LaunchFacts, streaming: float) -> str:
    if launch.spills > 16:
        return "spills"
    if work < LAUNCH_MS:
        return "launch"
    if longest == "memory" and streaming < 0.6:
        return "occupancy"
    return "memory" if longest == "cache" else longest


def _ms(amount: float, rate: float) -> float:
    return amount / rate * 1e3
