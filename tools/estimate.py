"""Predicted time of a launch on a GPU that need not be here: for ranking candidates, never for a claim.

A multiprocessor is taken as a few stations that a program visits: the issue of instructions, the first-level cache and
shared memory, the matrix units, the second-level cache, its share of device memory. The busiest of them bounds the
rate; one program alone takes the sum of all, and waits for memory, for barriers and for products besides. Between the
two lies the time with as many programs resident as fit: few of them cannot hide what many do.

Constants are rounded from an H200's times of the expert library's kernels (`egg.evals.estimator` measures how wrong the
prediction is); rates of other GPUs are in proportion to their datasheets.
"""

from math import ceil, prod
from typing import NamedTuple

from pydantic import Field

from egg.state.device import Device
from egg.state.record import Record
from egg.state.settings import Policy
from egg.tools.instructions import Effort
from egg.tools.occupancy import Occupancy, occupancy, waves

LAUNCH_MS = 4e-3
STREAM = 0.85  # share of the datasheet's bandwidth that is reached
ALONE = 3.7  # times its share of the bandwidth that one multiprocessor draws while the others are idle
CACHE_PER_SM = 62e9  # second-level cache to one multiprocessor, bytes/s
CLOCK_SHARE = 0.86  # of the boost clock that a datasheet's peak is for
LANES_BYTES = 0.5  # bytes of first-level cache or shared memory for each FLOP of fp32 that could be done meanwhile
WARP_FLOPS = 64.0  # of one instruction of a warp
WARP_IPC = 0.68  # instructions that a single warp issues in a clock, waiting for its own results
SCHEDULERS = 4.0
REACHED = {"tcgen05": 0.68, "wgmma": 0.68, "mma": 0.6, "none": 0.65}
OLD_MMA_ON_HOPPER = 0.27  # mma.sync there: 4096^3 in TF32 takes 1.585 ms, in three passes of it 2.57
START_S, LATENCY_S = 0.25e-6, 0.3e-6  # of a program; of a load that nothing hides
SERIAL_STAGES = 0.75  # of the stages of a loop whose loads run ahead, what does not overlap
BARRIER_S, SHUFFLE_S, PRODUCT_WAIT_S = 58e-9, 28e-9, 28e-9
L1_EXPOSED = 0.52  # part of the time in the first-level cache that a program alone waits for
SHARPNESS, QUEUEING = 4.4, 0.5  # how the busiest station and the waiting combine
TAIL = 0.37  # of a program's time that the GPU is part idle at the end
SPILL_ACCESS = 8.0  # bytes of a lane that one instruction spills or fetches back, on average of 4 and 16
SPECIAL_COST = 0.7  # of an instruction of the special-function unit, beside its issue


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
    guessed: bool = False
    effort: Effort | None = Field(None, description="Of one warp of one program; None: only `alu` is known")
    spread: float = Field(1.0, ge=1, description="Cache lines that global accesses touch, over the fewest")


class TorchFacts(Record):
    """One operator that PyTorch does within a candidate."""

    name: str = Field(max_length=200)
    bytes: int = Field(ge=0, lt=1 << 63)
    flops: float = Field(ge=0, le=1e100, allow_inf_nan=False)
    dtype: str = Field(max_length=200, description="`float32`; of the first floating-point argument")


class Prediction(NamedTuple):
    """Milliseconds, and the occupancy they rest on."""

    ms: float
    occupancy: Occupancy
    waves: float


class Demand(NamedTuple):
    """Seconds that one program needs of each station of a multiprocessor which it has for itself."""

    issue: float
    l1: float
    matrix: float
    cache: float
    memory: float

    @property
    def most(self) -> float:
        """Of the busiest."""
        return max(self)


def predict(device: Device, launch: LaunchFacts) -> Prediction:
    """Predicted time of one launch, its overhead included. A kernel that does not fit takes forever."""
    resident = occupancy(device, warps=launch.warps, registers=launch.registers, shared_bytes=launch.shared_bytes)
    filled = waves(device, prod(launch.grid), resident.blocks)
    if resident.blocks == 0:
        return Prediction(float("inf"), resident, filled)
    demand, moved = _demand(device, launch, resident), _moved(device, launch, resident)
    alone = _alone(device, launch, demand, moved)
    each = prod(launch.grid) / device.multiprocessors
    if each <= 1.0:
        seconds = _norm(each * demand.memory, alone)
    else:
        seconds = _shared_out(demand.most, alone, each, resident.blocks)
    return Prediction(1e3 * seconds + LAUNCH_MS, resident, filled)


def predict_torch(device: Device, policy: Policy, op: TorchFacts) -> float:
    """Milliseconds of an operator that stays with PyTorch's own kernels."""
    unit = {"float16": "fp16", "bfloat16": "bf16", "int8": "int8"}.get(op.dtype, "fp32")
    if unit == "fp32" and (policy is Policy.TF32 or (policy is Policy.STOCK and "conv" in op.name)):
        unit = "tf32"
    return LAUNCH_MS + _ms(op.bytes, device.bandwidth * STREAM) + _ms(op.flops, device.peak[unit] * 0.75)


def _moved(device: Device, launch: LaunchFacts, resident: Occupancy) -> float:
    """Bytes of device memory that cross: all that the arguments span, and no more than the kernel touches, once.

    What a program reads again crosses again if the resident programs' data do not fit the second-level cache; not in
    products, whose programs read each other's data.
    """
    touched = launch.load_bytes + launch.store_bytes
    moved = min(launch.bytes, touched) if touched and not launch.guessed else launch.bytes
    if touched > moved and not launch.dots:
        programs = prod(launch.grid)
        at_once = min(programs, resident.blocks * device.multiprocessors)
        held = launch.load_bytes / programs * at_once / device.l2_bytes
        moved += (touched - moved) * min(1.0, max(0.0, 2 * held - 1))
    return moved


class Spilled(NamedTuple):
    """Bytes that one program's spilled registers move, and of these what reaches the second level and the memory."""

    l1: float
    cache: float
    memory: float


def _spilled(device: Device, launch: LaunchFacts, resident: Occupancy) -> Spilled:
    """Stored and fetched back once a turn; the first level keeps what shared memory leaves of it."""
    held = float(launch.spills * 32 * launch.warps)
    moved = 2 * held * max(1.0, launch.steps)
    if not held:
        return Spilled(0.0, 0.0, 0.0)
    on_sm = held * resident.blocks
    room = max(0, device.shared_bytes_sm - launch.shared_bytes * resident.blocks)
    cache = moved * max(0.0, 1 - room / on_sm)
    return Spilled(moved, cache, cache * max(0.0, 1 - device.l2_bytes / (on_sm * device.multiprocessors)))


def _demand(device: Device, launch: LaunchFacts, resident: Occupancy) -> Demand:
    programs, sm_flops = prod(launch.grid), device.peak["fp32"] / device.multiprocessors * CLOCK_SHARE
    effort, warps = launch.effort or _from_alu(launch), launch.warps
    through_l1 = effort.global_bytes * launch.spread + effort.shared_bytes
    reached = REACHED.get(launch.tensor_core, 0.6)
    if launch.tensor_core == "mma" and device.target in ("sm_90", "sm_100"):
        reached = OLD_MMA_ON_HOPPER
    fed = effort.product_fed / effort.product if effort.product else 1.0
    matrix = sum(
        flops / (device.peak.get(unit, device.peak["fp16"]) * (REACHED["none"] if unit == "fp32" else reached / fed))
        for unit, flops in launch.dots.items()
        if unit != "fp32" or launch.effort is None  # else it is among the instructions
    )
    bandwidth = device.bandwidth * STREAM / device.multiprocessors
    spilled = _spilled(device, launch, resident)
    return Demand(
        issue=(warps * _slots(effort) + spilled.l1 / 32 / SPILL_ACCESS) * WARP_FLOPS / sm_flops,
        l1=(warps * through_l1 + spilled.l1) / (sm_flops * LANES_BYTES),
        matrix=matrix * device.multiprocessors / programs,
        cache=((launch.load_bytes + launch.store_bytes) / programs + spilled.cache) / CACHE_PER_SM,
        memory=(_moved(device, launch, resident) / programs + spilled.memory) / bandwidth,
    )


def _alone(device: Device, launch: LaunchFacts, demand: Demand, moved: float) -> float:
    """Seconds of a program that has its multiprocessor to itself.

    Loads that run ahead of the loop hide behind its work; of the others each turn waits for its own.
    """
    effort, programs, steps = launch.effort or _from_alu(launch), prod(launch.grid), max(1.0, launch.steps)
    turns = steps  # a loop without loads waits for none
    if launch.effort is not None:
        turns = max(1.0, min(steps, effort.accesses + effort.copies))
    sm_flops = device.peak["fp32"] / device.multiprocessors * CLOCK_SHARE
    slots = _slots(effort) + 2 * launch.spills * steps / SPILL_ACCESS
    own = max(demand.issue, slots * WARP_FLOPS * SCHEDULERS / (WARP_IPC * sm_flops))
    work = (demand.matrix + own + L1_EXPOSED * demand.l1) / turns
    drawn = moved / programs / (device.bandwidth / device.multiprocessors * ALONE)
    wait = LATENCY_S + (drawn + demand.cache) / turns
    if turns > 1 and launch.stages > 1 and _runs_ahead(launch):
        wait = max(0.0, (wait + work) / (launch.stages - SERIAL_STAGES) - work)
    pauses = effort.waits * PRODUCT_WAIT_S
    if not launch.dots:  # where they are, barriers are passed while products are under way
        pauses += effort.barriers * BARRIER_S + effort.shuffles * SHUFFLE_S
    return START_S + turns * (wait + work) + pauses


def _shared_out(busiest: float, alone: float, each: float, blocks: int) -> float:
    """Seconds of a multiprocessor for `each` programs, of which `blocks` are resident at a time."""

    def rate(resident: float) -> float:
        waited = busiest + max(0.0, alone - busiest) / resident
        return (1 - QUEUEING) * _norm(busiest, alone / resident) + QUEUEING * waited

    whole, rest = divmod(ceil(each), blocks)
    in_waves = whole * blocks * rate(blocks) + (rest * rate(rest) if rest else 0.0)
    return min(in_waves, each * rate(min(blocks, each)) + TAIL * alone)


def _norm(one: float, other: float) -> float:
    """A little more than the larger."""
    larger = max(one, other)
    ratio = min(one, other) / larger if larger else 0.0
    return float(larger * (1 + ratio**SHARPNESS) ** (1 / SHARPNESS))


def _runs_ahead(launch: LaunchFacts) -> bool:
    if launch.effort is not None:
        return launch.effort.copies > 0
    return launch.shared_bytes >= launch.step_bytes > 0


def _slots(effort: Effort) -> float:
    return effort.instructions + SPECIAL_COST * effort.special


def _from_alu(launch: LaunchFacts) -> Effort:
    """Where no instructions could be read: elementwise operations, and accesses of 16 bytes a lane."""
    warps = prod(launch.grid) * launch.warps
    touched = (launch.load_bytes + launch.store_bytes) / warps
    return Effort(instructions=launch.alu / 32 / warps + 4 * touched / 512, global_bytes=touched)


def _ms(amount: float, rate: float) -> float:
    return amount / rate * 1e3
