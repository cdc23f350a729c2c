"""A kernel as decisions: what the expert library writes from, and what a stage changes."""

from typing import Any, Literal

from pydantic import Field

from egg.state.record import Record
from egg.state.settings import Policy
from egg.state.stage import Group

Values = dict[str, Any]
Edits = dict[str, dict[str, Values]]
"""Changes to a spec: region -> decision group -> parameter -> value. All JSON."""

TORCH = "torch"
"""The kind, and the structure, of a region that stays a PyTorch call."""


class RegionSpec(Record):
    """One region's decisions in the four groups, and the facts that the rules for changing them need."""

    name: str = Field(description="`r0_layer_norm`; the region's kernels are named after it")
    kind: str
    structure: Values = Field(default_factory=dict, description='Always has "name"')
    mapping: Values = Field(default_factory=dict, description="Grid axes, work per program, persistence, order")
    tiling: Values = Field(default_factory=dict, description="Block shapes, num_warps")
    memory: Values = Field(default_factory=dict, description="num_stages, vector width, eviction, descriptors")
    facts: Values = Field(default_factory=dict, description="Full sizes and element types; never edited")

    @property
    def in_torch(self) -> bool:
        """Whether it stays a PyTorch call, by its kind or because it was moved there."""
        return TORCH in (self.kind, self.structure.get("name"))

    def group(self, group: Group) -> Values:
        """The decisions of one group."""
        values: Values = getattr(self, group)
        return values

    def move(
        self,
        group: Group,
        values: Values,
        why: str,
        bottleneck: str,
        gain: float,
        along: dict[str, Values] | None = None,
    ) -> "Move":
        """A proposal to change one group of this region, and `along` with it what no longer fits in the others."""
        before = self.group(group)
        values = {name: value for name, value in values.items() if before.get(name) != value}
        changes = ", ".join(_spelled(name, before.get(name), value) for name, value in values.items())
        return Move(
            group=group,
            edits={self.name: {group: values, **(along or {})}},
            change=f"{self.name}: {changes}",
            why=why,
            bottleneck=bottleneck,
            expected_gain=round(max(0.0, min(0.95, gain)), 3),
        )

    def edited(self, changes: dict[str, Values]) -> "RegionSpec":
        """A copy with these parameters changed; groups that do not exist are ignored."""
        groups = [group for group in ("structure", "mapping", "tiling", "memory") if changes.get(group)]
        return self.model_copy(update={group: {**getattr(self, group), **changes[group]} for group in groups})


class KernelSpec(Record):
    """All that decides a kernel's source, given the problem."""

    policy: Policy
    structure: str = Field(description="Name of the seed's algorithmic structure")
    regions: tuple[RegionSpec, ...]

    def region(self, name: str) -> RegionSpec | None:
        """The region of this name."""
        return next((region for region in self.regions if region.name == name), None)

    def edited(self, edits: Edits) -> "KernelSpec":
        """A copy with the edits made; regions that do not exist are ignored."""
        regions = tuple(region.edited(edits.get(region.name, {})) for region in self.regions)
        return self.model_copy(update={"regions": regions})


class Skeleton(Record):
    """A whole kernel.py and the decisions it was written from."""

    source: str
    spec: KernelSpec
    torch_regions: tuple[str, ...] = Field((), description="What stays a PyTorch call, and why")


class Move(Record):
    """One change that the expert proposes, with its reason."""

    group: Literal["structure", "mapping", "tiling", "memory"]
    edits: Edits
    change: str = Field(description="One line: `r0_add: BLOCK 1024 -> 2048`")
    why: str
    bottleneck: str = Field(description="memory, compute, latency, launch, spills or occupancy")
    expected_gain: float = Field(ge=0, description="Fraction of the time expected to go away; a guess")


def _spelled(name: str, old: Any, new: Any) -> str:
    """One parameter's change in words."""
    if isinstance(new, bool):
        return f"{name} {'on' if new else 'off'}"
    if name == "name":
        name = "structure"
    return f"{name} = {new}" if old is None else f"{name} {old} -> {new}"
