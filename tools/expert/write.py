"""Run in a child: from a problem and decisions to the text of kernel.py."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from egg.state.device import Device
from egg.state.settings import Policy
from egg.tools.expert.algebra import COLLAPSE, collapsible
from egg.tools.expert.assemble import assemble, whole_module
from egg.tools.expert.capture import Capture, capture
from egg.tools.expert.cleanup import base_name
from egg.tools.expert.forward import Forward
from egg.tools.expert.keep import keep
from egg.tools.expert.kinds import Kind, kind_named, kinds
from egg.tools.expert.partition import GENERIC, UNFUSED, Partition, partition
from egg.tools.expert.printer import Unprintable
from egg.tools.expert.region import Region
from egg.tools.expert.spec import TORCH, Edits, KernelSpec, RegionSpec, Skeleton
from egg.tools.expert.trace import Inexpressible


@dataclass(frozen=True)
class Order:
    """What to write. `spec` stands for all decisions; without it they are the structure's defaults."""

    source: str
    small_source: str | None
    policy: Policy
    device: Device
    structure: str | None = None
    spec: KernelSpec | None = None
    edits: Edits | None = None


def write(order: Order) -> Skeleton:
    """A whole kernel.py; the module as it is where nothing can be expressed."""
    return write_all(order, [order.edits])[0]


def write_all(order: Order, variants: Sequence[Edits | None]) -> list[Skeleton]:
    """The same with each of these edits in place of the order's own; the module is captured once for all of them."""
    try:
        structure = order.structure or (order.spec.structure if order.spec else None)
        captured = capture(order.source, order.small_source, collapsed=structure == COLLAPSE)
        if structure is None:
            structure = best(captured)
            if structure == COLLAPSE:
                captured = capture(order.source, order.small_source, collapsed=True)
    except (Inexpressible, Unprintable) as reason:
        return [whole_module(order.source, order.policy, str(reason)) for _ in variants]
    return [_written(replace(order, edits=edits), captured, structure) for edits in variants]


def _written(order: Order, captured: Capture, structure: str) -> Skeleton:
    try:
        return _write(order, captured, structure)
    except (Inexpressible, Unprintable) as reason:
        return whole_module(order.source, order.policy, str(reason))


def _write(order: Order, captured: Capture, structure: str) -> Skeleton:
    cut = cut_up(captured, structure)
    spec = decide(order, cut, structure)
    written: list[Region] = []
    texts: list[str] = []
    left: list[str] = []
    for region in cut.regions:
        if stays_torch(spec, region.name):
            left.append(f"{region.name}: asked for")
            continue
        try:
            texts.append(_emit(region, spec, order.policy))
            written.append(region)
        except Exception as error:  # one region that a kind cannot write must not cost the others
            left.append(f"{region.name}: {type(error).__name__}: {error}")
            spec = spec.edited({region.name: {"structure": {"name": TORCH}}})
    if not written:
        why = "; ".join(left) or "no part of it has a kind that the library can write"
        return whole_module(order.source, order.policy, why)
    forward = Forward(captured, cut, tuple(written))
    left += [f"{base_name(node)}: no kind for it" for node in forward.torch_calls if node not in cut.owner]
    source = assemble(keep(order.source, body="\n".join(forward.lines)), spec, texts, forward, captured)
    return Skeleton(source=source, spec=spec, torch_regions=tuple(left))


def cut_up(captured: Capture, structure: str) -> Partition:
    """The regions that a structure asks for."""
    return partition(captured.graph, kinds(), structure)


def decide(order: Order, cut: Partition, structure: str) -> KernelSpec:
    """Defaults, over them the decisions given (an older library may have made fewer), then the edits."""
    regions: list[RegionSpec] = []
    for region in cut.regions:
        given = order.spec.region(region.name) if order.spec else None
        if given is not None and given.kind == region.kind:
            default = _default(region, str(given.structure.get("name")), order)
            regions.append(default.edited(given.model_dump(include={"structure", "mapping", "tiling", "memory"})))
        else:
            regions.append(_default(region, structure, order))
    spec = KernelSpec(policy=order.policy, structure=structure, regions=tuple(regions))
    return _restructured(spec.edited(order.edits or {}), spec, cut, order)


def _default(region: Region, structure: str, order: Order) -> RegionSpec:
    kind = _kind(region)
    names = kind.structures(region)
    return kind.default(region, structure if structure in names else names[0], order.policy, order.device)


def _restructured(edited: KernelSpec, before: KernelSpec, cut: Partition, order: Order) -> KernelSpec:
    """Where an edit changes a region's structure, its other decisions start anew, unless they are edited too."""
    regions: list[RegionSpec] = []
    for new, old, region in zip(edited.regions, before.regions, cut.regions, strict=True):
        name = new.structure.get("name")
        if name == old.structure.get("name") or name == TORCH or name not in _kind(region).structures(region):
            regions.append(new)
        else:
            fresh = _kind(region).default(region, str(name), order.policy, order.device)
            regions.append(fresh.edited((order.edits or {}).get(region.name, {})))
    return edited.model_copy(update={"regions": tuple(regions)})


def structures(captured: Capture) -> tuple[str, ...]:
    """Names worth a seed, best first: the main region's own, then the one that keeps neighbours apart.

    Where the main region has but one, the other regions' make a difference.
    """
    fused, apart = cut_up(captured, "fused"), cut_up(captured, UNFUSED)
    if not fused.regions:
        return ()
    main, *others = sorted(fused.regions, key=_weight, reverse=True)
    names = list(_kind(main).structures(main))
    for region in others:
        if len(names) < 2:
            names += [name for name in _kind(region).structures(region) if name not in names]
    if [region.nodes for region in fused.regions] != [region.nodes for region in apart.regions]:
        names.append(UNFUSED)
    if len(names) < 2 and cut_up(captured, GENERIC).regions:
        names.append(GENERIC)
    if collapsible(captured.full.graph_module.graph):
        names.insert(0, COLLAPSE)
    return tuple(dict.fromkeys(names))


def best(captured: Capture) -> str:
    """The first of the structures."""
    return next(iter(structures(captured)), "fused")


def stays_torch(spec: KernelSpec, name: str) -> bool:
    """Whether the decisions leave this region to PyTorch."""
    region = spec.region(name)
    return region is None or region.structure.get("name") == TORCH


def _weight(region: Region) -> tuple[bool, int]:
    """The main region does more than single elements, and moves the most."""
    return region.kind != "pointwise", sum(value.bytes for value in (*region.inputs, *region.outputs))


def _emit(region: Region, spec: KernelSpec, policy: Policy) -> str:
    decided = spec.region(region.name)
    assert decided is not None
    return _kind(region).emit(region, decided, policy)


def _kind(region: Region) -> Kind:
    kind = kind_named(region.kind)
    assert kind is not None
    return kind
