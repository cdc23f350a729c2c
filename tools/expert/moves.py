"""Dispatch of the expert's rules: every region's own moves, the most promising first."""

from egg.state.device import Device
from egg.state.evaluation import StaticProfile
from egg.state.problem import Workload
from egg.state.stage import Group
from egg.tools.expert.kinds import Kind, kind_named, launches_of
from egg.tools.expert.spec import KernelSpec, Move, RegionSpec


def moves(
    spec: KernelSpec, group: Group, profile: StaticProfile | None, device: Device, workload: Workload
) -> tuple[Move, ...]:
    """Single changes within one decision group, best first: expected gain times the region's share of the time."""
    found: list[tuple[float, Move]] = []
    for region in spec.regions:
        kind = kind_named(region.kind)
        if kind is None or region.in_torch:
            continue
        share = _share(profile, region, len(spec.regions))
        for move in _proposals(kind, region, group, profile, device, workload):
            if region.edited(move.edits.get(region.name, {})) != region:
                gain = round(move.expected_gain * share, 4)
                found.append((gain, move.model_copy(update={"expected_gain": gain})))
    found.sort(key=lambda pair: -pair[0])
    return tuple(move for _, move in found)


def _proposals(
    kind: Kind, region: RegionSpec, group: Group, profile: StaticProfile | None, device: Device, workload: Workload
) -> list[Move]:
    """The kind's own; none where its rules do not understand the decisions: an older library's, or a model's own."""
    try:
        return kind.moves(region, group, profile, device, workload)
    except (LookupError, TypeError, ValueError, ArithmeticError):
        return []


def _share(profile: StaticProfile | None, region: RegionSpec, count: int) -> float:
    """The region's part of the predicted time; an equal part where nothing is predicted."""
    own = sum(launch.calls * launch.estimate_ms for launch in launches_of(profile, region))
    if profile is None or not own or profile.estimate_ms <= 0:
        return 1.0 / max(1, count)
    return min(1.0, own / profile.estimate_ms)
