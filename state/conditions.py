"""Under what conditions a time was measured: all that is needed to repeat it, and to believe it."""

from collections.abc import Iterator

from pydantic import Field

from egg.state.record import Record


class Spread(Record):
    """Least, middle and greatest of what was read."""

    low: float
    median: float
    high: float


class Clocks(Record):
    """What the driver said of the GPU around the timed blocks. None where it would not say."""

    sm_mhz: Spread | None = None
    memory_mhz: Spread | None = None
    temperature_c: Spread | None = None
    power_w: Spread | None = None
    reasons: tuple[str, ...] = Field((), description="Why the clocks were held back at some time: `power_cap`, ...")
    readings: int = 0
    note: str = Field("", description="Why nothing was read")


class TimedOutputs(Record):
    """Outputs of timed calls that were looked at afterwards, in a process that never held the candidate."""

    checked: int = Field(0, description="Outputs compared with the reference's for the very inputs of their call")
    of: int = Field(0, description="Timed calls of the candidate")
    telling: int = Field(0, description="Of the checked, those that the output of an earlier call would have failed")
    note: str = Field("", description="Why none or few were checked")


class Conditions(Record):
    """Of one measurement. Dictionaries are keyed by side: `candidate`, `eager`, `compile`, `compile_max`."""

    sessions: int = Field(description="Times over, each in fresh processes")
    rounds: int = Field(description="Rounds kept, of all sessions; in each every side ran twice, in mirrored order")
    samples: dict[str, int] = Field(default_factory=dict, description="Timed calls kept")
    thrown_away: int = Field(0, description="Samples of rounds in which the GPU's clock was held back")
    seeds: tuple[int, ...] = Field((), description="Of weights, inputs and order; one a session")
    flush_bytes: int = Field(0, description="Written before each call, so that the second-level cache is cold")
    input_sets: int = Field(0, description="Sets of inputs at addresses of their own, used in turn")
    contents: str = Field("", description="How the contents of the inputs change from call to call")
    clocks: Clocks = Clocks()
    outputs: TimedOutputs = TimedOutputs()
    gap_ms: dict[str, float] = Field(
        default_factory=dict, description="What the host's clock shows beyond the events, for the same calls"
    )
    wall_gap_ms: dict[str, float] = Field(
        default_factory=dict, description="What our own process's clock shows beyond the times reported, a call"
    )
    charged_ms: float = Field(
        0.0, description="Added to each of the candidate's times: work after its events had ended"
    )
    floor_ms: float = Field(0.0, description="Least time to move the bytes; a measured time below it is refused")
    arithmetic_floor_ms: float = Field(0.0, description="Least time for the reference's arithmetic under the policy")
    fewer_operations: bool = Field(
        False, description="Faster than the reference's arithmetic could be done: the candidate needs less of it"
    )
    warm_ms: dict[str, float] = Field(
        default_factory=dict, description="Median with a warm cache, of short kernels; never the headline"
    )
    graph_ms: dict[str, float] = Field(
        default_factory=dict, description="Median of CUDA graph replays, where capture works; never the headline"
    )
    left_out: dict[str, str] = Field(default_factory=dict, description="Baselines that were not timed, and why")
    seconds: dict[str, float] = Field(
        default_factory=dict, description="Wall time of the measurement's own parts: opening, waiting, timing, checking"
    )
    notes: tuple[str, ...] = ()

    def told(self) -> Iterator[tuple[str, str]]:
        """Name and one line for a person, of what matters most."""
        kept = ", ".join(f"{count} of {side}" for side, count in self.samples.items())
        yield "Samples", f"{kept}; {self.sessions} sessions in fresh processes, {self.thrown_away} thrown away"
        checked = self.outputs
        yield "Outputs of timed calls", checked.note or f"{checked.checked} of {checked.of} compared, all right"
        if clock := self.clocks.sm_mhz:
            held = ", ".join(self.clocks.reasons) or "never held back"
            yield "GPU clock", f"{clock.median:.0f} MHz ({clock.low:.0f} to {clock.high:.0f}); {held}"
        else:
            yield "GPU clock", self.clocks.note or "not read"
        for side, why in self.left_out.items():
            yield f"Not timed: {side}", why
