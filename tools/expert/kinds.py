"""What a kind of region has to know, and the list of kinds.

A kind never imports torch: `moves` runs in the main process, and the graph it reads in the child is duck-typed.

Names in the emitted source, which the rest of the library relies on:
- the host function is `<region.name>(<region.parameters>)`; it returns the region's outputs in order;
- every kernel's name starts with `<region.name>_`; launches of a profile are found by it (`launches_of`);
- tunables stand in one module-level table, `<REGION.NAME>_META = dict(...)`, passed as `**META`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from egg.state.device import Device
from egg.state.evaluation import Launch, StaticProfile
from egg.state.problem import Workload
from egg.state.settings import Policy
from egg.state.stage import Group
from egg.tools.expert.spec import Move, RegionSpec

if TYPE_CHECKING:
    from torch.fx import Node

    from egg.tools.expert.region import Graph, Region

MODULES = (
    "attention",
    "cross_entropy",
    "rope",
    "int8",
    "gemm",
    "rows.kind",
    "pooling",
    "scan",
    "pointwise",
)
"""Modules of this package that define `KINDS: tuple[Kind, ...]`; first come, first served for nodes."""


class Match(NamedTuple):
    """What a kind takes as the heart of a region."""

    nodes: "tuple[Node, ...]"
    """Every node it computes, in graph order; all but the outputs must have no user outside."""
    outputs: "tuple[Node, ...]"
    facts: dict[str, Any]
    """JSON: whatever the kind wants to find again in `region.facts` (and, by way of `default`, in the spec)."""


class Kind(Protocol):
    """A kind of region: finds it in the graph, decides how to compute it, writes it."""

    @property
    def name(self) -> str: ...

    def match(self, node: "Node", graph: "Graph") -> Match | None:
        """The region around `node`, or None. Called for every node no kind has taken yet, in graph order."""

    def absorbs(self, region: "Region", node: "Node", side: str) -> bool:
        """Whether this pointwise node may join as the `epilogue` or the `prologue` of the region so far.

        It has the region's output as an operand (epilogue), or is only used by the region (prologue); its other
        operands become inputs of the region, so the kind must be able to load them at its tile.
        """

    def structures(self, region: "Region") -> tuple[str, ...]:
        """Names of the algorithmic structures, best first; at least one."""

    def default(self, region: "Region", structure: str, policy: Policy, device: Device) -> RegionSpec:
        """First decisions. `structure` is one of `structures`; the spec's name is `region.name`."""

    def emit(self, region: "Region", spec: RegionSpec, policy: Policy) -> str:
        """Source of the META table, the kernels and the host function."""

    def moves(
        self, spec: RegionSpec, group: Group, profile: StaticProfile | None, device: Device, workload: Workload
    ) -> list[Move]:
        """Rules: single changes within the group, best first. Pure, and without torch."""


def kinds() -> tuple[Kind, ...]:
    """All kinds, in the order in which they may claim nodes."""
    return tuple(kind for module in MODULES for kind in import_module(f"{__package__}.{module}").KINDS)


def kind_named(name: str) -> Kind | None:
    """The kind of this name."""
    return next((kind for kind in kinds() if kind.name == name), None)


def launches_of(profile: StaticProfile | None, region: RegionSpec) -> tuple[Launch, ...]:
    """The region's own launches."""
    launches = profile.launches if profile else ()
    return tuple(launch for launch in launches if launch.kernel.startswith(f"{region.name}_"))
