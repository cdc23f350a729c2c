"""The judge's word on one kernel file, with all that is needed to ask again."""

from pydantic import Field

from egg.state.device import Device
from egg.state.evaluation import Evaluation
from egg.state.record import Record
from egg.state.settings import Policy


class Judgement(Record):
    """One verdict and what it was asked of."""

    problem: str = Field(description="The problem file's stem")
    problem_digest: str = Field(description="SHA-256 of the problem's source")
    kernel: str = Field(description="The kernel file, as it was named")
    kernel_digest: str = Field(description="SHA-256 of the kernel's source")
    policy: Policy
    quick: bool = Field(description="As in a search: fewer inputs, one timing session, no other protocol beside ours")
    device: Device
    sizes: dict[str, int] = Field(description="Constants of the problem made small for the interpreter; none on a GPU")
    degenerate: tuple[str, ...] = Field(description="Why the problem is a poor test")
    roofline_ms: float = Field(description="What the hardware allows at best")
    bound: str = Field(description="memory or compute")
    evaluation: Evaluation
    egg_version: str
    seconds: float = Field(description="Wall time of the verdict; near nothing for one that was known")
