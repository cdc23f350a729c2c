"""What profiling one kernel file comes to, with all that is needed to ask again."""

from pydantic import Field

from egg.state.ceilings import Ceilings
from egg.state.device import Device
from egg.state.estimate_error import EstimateError
from egg.state.profile import Profile
from egg.state.record import Record
from egg.state.settings import Policy


class Profiled(Record):
    """One profile and what it was asked of."""

    problem: str = Field(description="The problem file's stem")
    problem_digest: str = Field(description="SHA-256 of the problem's source")
    kernel: str = Field(description="The kernel file, as it was named")
    kernel_digest: str = Field(description="SHA-256 of the kernel's source")
    policy: Policy
    device: Device
    ceilings: Ceilings
    profile: Profile
    estimate_error: EstimateError | None = Field(
        None, description="Of predicted times; None: not measured, or no matter"
    )
    egg_version: str
    seconds: float = Field(description="Wall time; near nothing for what was known")

    @property
    def roofs(self) -> dict[str, float]:
        """FLOP/s at best by precision: as measured, else the datasheet's."""
        return {**self.device.peak, **self.ceilings.matrix}
