"""A stage of the state machine, as data. Adding a stage is adding a `StageSpec`."""

from typing import Literal

from pydantic import Field

from egg.state.record import Record

Group = Literal["structure", "mapping", "tiling", "memory"]
GROUPS: tuple[Group, ...] = ("structure", "mapping", "tiling", "memory")
"""The four decision groups, in the order in which they are decided and then frozen (EGG, section 3)."""


class StageSpec(Record):
    """What one run of the stage subgraph is for."""

    name: str = Field(description="`seed`, `mapping`, `tiling`, `memory`")
    step: int = Field(description="Its place in the run; orders the ledger")
    group: Group = Field(description="The only decisions it may change")
    goal: str
    metrics: tuple[str, ...] = Field(description="Static or measured metrics that speak for or against a change")
    rounds: int = Field(ge=1, description="Kernels to try at most, repairs not counted")
    repairs: int = Field(ge=0, description="Repairs of one broken kernel at most")
    min_gain: float = Field(ge=0, description="Fraction of the time a change must save to be kept")

    @property
    def frozen(self) -> tuple[Group, ...]:
        """Groups that earlier stages have decided."""
        return GROUPS[: GROUPS.index(self.group)]
