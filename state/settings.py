"""What a user chooses for a run. Stored in state, because LangGraph's run context does not survive a resume."""

import sys
from enum import StrEnum
from typing import Literal

from pydantic import Field

from egg.state.backbone import ROLES, RULEBOOK, Backbone, Protocol, Role, RoleBackbone, Roles, Sampling
from egg.state.pause import Pause
from egg.state.record import Record
from egg.state.search import SearchLimits


class Policy(StrEnum):
    """Floating-point policy, applied alike to the reference and to every candidate."""

    STOCK = "stock"
    """PyTorch's own flags: IEEE matrix products, TF32 convolutions."""
    IEEE = "ieee"
    """TF32 off everywhere; any method that meets the error budget is welcome."""
    TF32 = "tf32"
    """TF32 for matrix products and convolutions on both sides."""


Target = Literal["sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120", "gfx942"]


class Limits(Record):
    """Caps on a whole run. When one is reached the run ends well, with the best kernel so far."""

    calls: int = Field(200, ge=0, description="Model calls")
    tokens: int = Field(400_000, ge=0, description="Input plus output tokens")
    usd: float | None = Field(None, gt=0, description="US dollars, by the price table; none: no cap")
    gpu_minutes: float | None = Field(None, gt=0, description="Minutes in which the run holds a GPU; none: no cap")
    minutes: float = Field(60.0, gt=0, description="Wall-clock minutes")

    @property
    def of_time(self) -> "Limits":
        """The caps that hold for work which no model is asked for."""
        return self.model_copy(update={"calls": sys.maxsize, "tokens": sys.maxsize, "usd": None})


class Settings(Record):
    """Everything but the problem that decides how a run goes."""

    model: str = Field(RULEBOOK, description="`rulebook`, `openai:NAME`, or `PROVIDER:NAME` of another provider")
    base_url: str | None = Field(None, description="Endpoint of an OpenAI-compatible server")
    protocol: Protocol = Field(Protocol.TOOLS, description="How the model calls tools")
    sampling: Sampling = Sampling()
    roles: Roles = Field(Roles(), description="What is different for each role")
    seeds: int = Field(2, ge=1, le=16, description="Seeds to draft, each with another algorithmic structure")
    policy: Policy = Field(Policy.STOCK, description="Floating-point policy, the same on both sides")
    target: Target | None = Field(None, description="GPU to compile for; the one in this machine where there is one")
    limits: Limits = Limits()
    search: bool = Field(True, description="Whether a machine search chooses numbers in the tuning stages")
    search_limits: SearchLimits = Field(SearchLimits(), description="Caps on the search of one stage")
    pause: Pause = Field(Pause.NEVER, description="When the run waits for a person")

    def backbone(self, role: Role) -> Backbone:
        """Who plays a role, and how it is asked."""
        run = Backbone(model=self.model, base_url=self.base_url, protocol=self.protocol, **self.sampling.model_dump())
        mine: RoleBackbone = getattr(self.roles, role)
        return mine.over(run)

    @property
    def with_model(self) -> bool:
        """Whether any role is played by an LLM."""
        return not all(self.backbone(role).is_rulebook for role in ROLES)

    @property
    def played_by(self) -> str:
        """The models, for a person to read: one, or one for each role."""
        models = {role: self.backbone(role).model for role in ROLES}
        if len(set(models.values())) == 1:
            return f"`{self.backbone(ROLES[0]).model}`"
        return ", ".join(f"{role} `{model}`" for role, model in models.items())

    def by_rulebook(self) -> "Settings":
        """The same run without an LLM."""
        return self.asking_by(Backbone(model=RULEBOOK))

    def asking_by(self, backbone: Backbone) -> "Settings":
        """The same run with one backbone for all roles."""
        changes = {name: getattr(backbone, name) for name in ("model", "base_url", "protocol")}
        sampling = Sampling(**backbone.model_dump(include=set(Sampling.model_fields)))
        return self.model_copy(update={**changes, "sampling": sampling, "roles": Roles()})
