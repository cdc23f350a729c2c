"""The hardware counters that are read of each kernel: one table of names, units and meaning."""

from typing import Literal

from pydantic import Field

from egg.state.record import Record
from egg.state.stage import Group

Unit = Literal["%", "byte", "byte/sector", "ns", "cycle", "count", "block", "thread", "register", "wave"]


class Metric(Record):
    """One counter."""

    name: str = Field(description="Ours, and the key in `KernelProfile.counters`")
    ncu: str = Field(description="What Nsight Compute calls it")
    unit: Unit
    meaning: str
    stages: tuple[Group, ...] = Field((), description="Whose agent is shown it; () for none: it is for the classifier")
    also: tuple[str, ...] = Field((), description="What it is called on other GPUs or by other versions")
    ratio: tuple[str, str] | None = Field(
        None, description="Two others whose quotient, in percent, it is where it is not there itself"
    )
    paper: bool = Field(True, description="Whether it is one of the 24 that EGG reads")
    adds_up: bool = Field(False, description="Whether that of several launches is the sum; else their average by time")


_ALL: tuple[Group, ...] = ("structure", "mapping", "tiling", "memory")
_STALL = "smsp__warp_issue_stalled_{}_per_warp_active.pct"
_STALLED = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
_WAITED = "smsp__average_warp_latency_per_inst_issued.ratio"
"""All that a warp waits between two instructions, in cycles: the sum of the stalled ratios."""


def _stall(name: str, reason: str, meaning: str, *, stages: tuple[Group, ...] = (), paper: bool = True) -> Metric:
    return Metric(
        name=name,
        ncu=_STALL.format(reason),
        unit="%",
        meaning=meaning,
        stages=stages,
        ratio=(_STALLED.format(reason), _WAITED),
        paper=paper,
    )


METRICS: tuple[Metric, ...] = (
    # Of every stage.
    Metric(
        name="sm_throughput",
        ncu="sm__throughput.avg.pct_of_peak_sustained_elapsed",
        unit="%",
        meaning="Busiest part of the multiprocessors, of its peak",
        stages=_ALL,
    ),
    Metric(
        name="dram_throughput",
        ncu="dram__throughput.avg.pct_of_peak_sustained_elapsed",
        also=("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",),
        unit="%",
        meaning="Device memory, of its peak",
        stages=_ALL,
    ),
    Metric(
        name="l2_hit_rate",
        ncu="lts__t_sector_hit_rate.pct",
        unit="%",
        meaning="Sectors asked of the second-level cache that were there",
        stages=_ALL,
    ),
    Metric(
        name="warps_active",
        ncu="sm__warps_active.avg.pct_of_peak_sustained_active",
        unit="%",
        meaning="Occupancy that was reached: resident warps of those that a multiprocessor can hold",
        stages=_ALL,
    ),
    Metric(
        name="load_bytes_per_sector",
        ncu="smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio",
        unit="byte/sector",
        meaning="Of each 32-byte sector that global loads fetch, bytes that some thread asked for",
        stages=_ALL,
    ),
    # Mapping.
    Metric(
        name="grid_size",
        ncu="launch__grid_size",
        unit="block",
        meaning="Programs of the launch",
        stages=("mapping",),
    ),
    Metric(
        name="block_size",
        ncu="launch__block_size",
        unit="thread",
        meaning="Threads of a program",
        stages=("mapping",),
    ),
    Metric(
        name="waves",
        ncu="launch__waves_per_multiprocessor",
        unit="wave",
        meaning="Programs over those that the whole GPU holds at a time",
        stages=("mapping",),
    ),
    # Tiling.
    Metric(
        name="limit_blocks",
        ncu="launch__occupancy_limit_blocks",
        unit="block",
        meaning="Programs that a multiprocessor holds by its number of block slots",
        stages=("tiling",),
    ),
    Metric(
        name="limit_registers",
        ncu="launch__occupancy_limit_registers",
        unit="block",
        meaning="... by registers",
        stages=("tiling",),
    ),
    Metric(
        name="limit_shared",
        ncu="launch__occupancy_limit_shared_mem",
        unit="block",
        meaning="... by shared memory",
        stages=("tiling",),
    ),
    Metric(
        name="registers",
        ncu="launch__registers_per_thread",
        unit="register",
        meaning="Registers of a thread",
        stages=("tiling",),
    ),
    Metric(
        name="shared_static",
        ncu="launch__shared_mem_per_block_static",
        unit="byte",
        meaning="Shared memory of a program that is fixed at compile time",
        stages=("tiling",),
    ),
    # Memory.
    _stall(
        "stall_memory",
        "long_scoreboard",
        "Resident warps that wait for global or local memory (`memory dependency` before Volta)",
        stages=("memory",),
    ),
    Metric(
        name="l1_hit_rate",
        ncu="l1tex__t_sector_hit_rate.pct",
        unit="%",
        meaning="Sectors asked of the first-level cache that were there",
        stages=("memory",),
    ),
    Metric(
        name="store_bytes_per_sector",
        ncu="smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio",
        unit="byte/sector",
        meaning="Of each 32-byte sector that global stores touch, bytes that some thread wrote",
        stages=("memory",),
    ),
    _stall("stall_shared", "short_scoreboard", "Resident warps that wait for shared memory", stages=("memory",)),
    _stall("stall_barrier", "barrier", "Resident warps that wait at a barrier", stages=("memory",)),
    Metric(
        name="tensor_pipe",
        ncu="sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
        also=(
            "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active",
            "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active",
        ),
        unit="%",
        meaning="Cycles in which the matrix units worked",
        stages=("memory",),
    ),
    # Of the 24, without a stage of their own.
    Metric(
        name="dram_read_bytes",
        ncu="dram__bytes_read.sum",
        also=("dram__bytes_op_read.sum",),
        unit="byte",
        meaning="Read from device memory",
        adds_up=True,
    ),
    Metric(
        name="dram_write_bytes",
        ncu="dram__bytes_write.sum",
        also=("dram__bytes_op_write.sum",),
        unit="byte",
        meaning="Written to device memory",
        adds_up=True,
    ),
    Metric(
        name="l2_throughput",
        ncu="lts__throughput.avg.pct_of_peak_sustained_elapsed",
        unit="%",
        meaning="Busiest part of the second-level cache, of its peak",
    ),
    Metric(
        name="fp32_pipe",
        ncu="sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",
        also=("sm__inst_executed_pipe_fp32.avg.pct_of_peak_sustained_active",),
        unit="%",
        meaning="Instruction slots of the ordinary floating-point units that were used",
    ),
    Metric(
        name="instructions",
        ncu="sm__inst_executed.sum",
        also=("smsp__inst_executed.sum",),
        unit="count",
        meaning="Instructions that warps carried out",
        adds_up=True,
    ),
    # Ours, for the classifier.
    Metric(
        name="duration",
        ncu="gpu__time_duration.sum",
        unit="ns",
        meaning="Of one launch, with cold caches; counters are weighted by it",
        paper=False,
        adds_up=True,
    ),
    Metric(
        name="limit_warps",
        ncu="launch__occupancy_limit_warps",
        unit="block",
        meaning="Programs that a multiprocessor holds by its number of warps",
        paper=False,
    ),
    Metric(
        name="shared_dynamic",
        ncu="launch__shared_mem_per_block_dynamic",
        unit="byte",
        meaning="Shared memory of a program that is asked for at launch: all of Triton's",
        paper=False,
    ),
    Metric(
        name="occupancy",
        ncu="sm__maximum_warps_per_active_cycle_pct",
        unit="%",
        meaning="Occupancy that registers, shared memory and warps allow",
        paper=False,
    ),
    Metric(
        name="busy_cycles",
        ncu="sm__cycles_active.avg",
        unit="cycle",
        meaning="In which a multiprocessor had a program, on average of all",
        paper=False,
        adds_up=True,
    ),
    Metric(
        name="busiest_cycles",
        ncu="sm__cycles_active.max",
        unit="cycle",
        meaning="... of the busiest multiprocessor: far above the average, the work is not balanced",
        paper=False,
        adds_up=True,
    ),
    Metric(
        name="elapsed_cycles",
        ncu="sm__cycles_elapsed.max",
        unit="cycle",
        meaning="From the launch's first to its last",
        paper=False,
        adds_up=True,
    ),
    Metric(
        name="issue_active",
        ncu="smsp__issue_active.avg.pct_of_peak_sustained_active",
        unit="%",
        meaning="Cycles in which a scheduler had an instruction to issue",
        paper=False,
    ),
    Metric(
        name="l1_throughput",
        ncu="l1tex__throughput.avg.pct_of_peak_sustained_elapsed",
        also=("l1tex__throughput.avg.pct_of_peak_sustained_active",),
        unit="%",
        meaning="Busiest part of the first-level cache and shared memory, of its peak",
        paper=False,
    ),
    Metric(
        name="local_bytes",
        ncu="l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum",
        unit="byte",
        meaning="Spilled registers read back",
        paper=False,
        adds_up=True,
    ),
)

BY_NAME: dict[str, Metric] = {metric.name: metric for metric in METRICS}


def of_stage(group: Group) -> tuple[Metric, ...]:
    """What the agents of a stage are shown: five counters of every stage and the stage's own."""
    return tuple(metric for metric in METRICS if group in metric.stages)
