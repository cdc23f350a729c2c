"""What may be chosen of a kernel: the expert library's decisions, or the constants and configurations it shows."""

import re
from collections.abc import Iterable, Sequence

from egg.state.device import Device
from egg.state.evaluation import StaticProfile
from egg.state.problem import Workload
from egg.state.search import Parameter, SearchSpace, Value, Values
from egg.state.stage import GROUPS, Group
from egg.tools.expert import KernelSpec, RegionSpec, moves, spec_of
from egg.tools.tune import autotuned
from egg.tools.tune.constants import constants
from egg.tools.tune.ladder import ladder

TUNABLE = re.compile(r"(?i)(^|\.)(block|tile|num_warps|warps|num_stages|stages|group|split|chunks?|rows|programs)\w*$")
"""Names by which a constant of a model's own kernel is taken for a number that may be chosen freely."""
MEMORY = re.compile(r"(?i)stage|evict|cache|vector|vec_")
MAPPING = re.compile(r"(?i)group|split|chunk|persist|program|rows|order|swizzle|grid")
ABSENT: Values = {"programs_per_sm": 2}
"""Parameters that an expert kernel may not have yet, and what the library then takes."""


def is_decision(name: str) -> bool:
    """Whether it names a decision of an expert kernel: `region.group.parameter`."""
    parts = name.split(".")
    return len(parts) == 3 and parts[1] in GROUPS


def group_of(name: str) -> Group:
    """The stage that a constant of this name belongs to; a decision's name says it itself."""
    for group in GROUPS:
        if is_decision(name) and name.split(".")[1] == group:
            return group
    last = name.rpartition(".")[2]
    return "memory" if MEMORY.search(last) else "mapping" if MAPPING.search(last) else "tiling"


def space_of(
    source: str,
    group: Group | None,
    profile: StaticProfile | None,
    device: Device,
    workload: Workload,
    *,
    by_hand: bool = False,
) -> SearchSpace:
    """The expert library's space for its own kernels; else configurations and constants that look tunable.

    `by_hand`: the kernel has the library's heading, but is not what the library writes for it any more.
    """
    if not by_hand and (spec := spec_of(source)):
        groups = [group] if group else [g for g in GROUPS if g != "structure"]
        found = [parameter for g in groups for parameter in _expert(spec, g, profile, device, workload)]
        return SearchSpace(parameters=tuple(found)).within(group)
    return SearchSpace(parameters=(*_configurations(source), *_constants(source))).within(group)


def current(source: str, space: SearchSpace) -> Values:
    """The values of a kernel as it is.

    Raises:
        KeyError: it has no such parameter.
    """
    spec = spec_of(source)
    if spec and all(is_decision(parameter.name) for parameter in space.parameters):
        return {parameter.name: _decided(spec, parameter.name) for parameter in space.parameters}
    known: Values = constants(source) | {
        f"{kernel}{autotuned.SUFFIX}": number for kernel, number in autotuned.chosen(source).items()
    }
    return {parameter.name: known[parameter.name] for parameter in space.parameters}


def names_in(source: str) -> tuple[str, ...]:
    """Every name that a search space over this source may use."""
    shown = (*constants(source), *(f"{kernel}{autotuned.SUFFIX}" for kernel in autotuned.kernels(source)))
    if spec := spec_of(source):
        decided = ((region, group) for region in spec.regions for group in GROUPS)
        return (*shown, *(f"{region.name}.{group}.{name}" for region, group in decided for name in region.group(group)))
    return shown


def hints(
    source: str,
    space: SearchSpace,
    group: Group | None,
    profile: StaticProfile | None,
    device: Device,
    workload: Workload,
) -> list[Values]:
    """Points that the expert library would try first: its own moves, which may change several numbers at once."""
    spec = spec_of(source)
    if spec is None or not all(is_decision(parameter.name) for parameter in space.parameters):
        return []
    start, found = current(source, space), []
    for one in [group] if group else [g for g in GROUPS if g != "structure"]:
        for move in moves(spec, one, profile, device, workload):
            point = dict(start)
            for region, groups in move.edits.items():
                for name, values in groups.items():
                    point |= {f"{region}.{name}.{key}": value for key, value in values.items()}
            if point.keys() == start.keys() and all(point[p.name] in p.values for p in space.parameters):
                found.append(point)
    return found


def _expert(
    spec: KernelSpec, group: Group, profile: StaticProfile | None, device: Device, workload: Workload
) -> Iterable[Parameter]:
    proposed = _proposed(spec, group, profile, device, workload)
    for region in spec.regions:
        if region.in_torch:
            continue
        for name, now in _parameters(region, group, proposed).items():
            full = f"{region.name}.{group}.{name}"
            values = ladder(name, now, proposed.get(full, ()))
            if len(values) > 1:
                yield Parameter(name=full, values=values, group=group)


def _parameters(region: RegionSpec, group: Group, proposed: dict[str, list[Value]]) -> Values:
    known: Values = {name: now for name, now in region.group(group).items() if isinstance(now, bool | int | str)}
    absent = {name: now for name, now in ABSENT.items() if f"{region.name}.{group}.{name}" in proposed}
    return absent | known


def _proposed(
    spec: KernelSpec, group: Group, profile: StaticProfile | None, device: Device, workload: Workload
) -> dict[str, list[Value]]:
    """Values that the library's moves would give each parameter, from here and from where each move leads."""
    first = moves(spec, group, profile, device, workload)
    second = [move for one in first for move in moves(spec.edited(one.edits), group, None, device, workload)]
    found: dict[str, list[Value]] = {}
    for move in (*first, *second):
        for region, groups in move.edits.items():
            for name, values in groups.items():
                if name == group:
                    for key, value in values.items():
                        found.setdefault(f"{region}.{name}.{key}", []).append(value)
    return found


def _decided(spec: KernelSpec, name: str) -> Value:
    region, group, key = name.split(".")
    found = spec.region(region)
    if found is None or group not in GROUPS:
        raise KeyError(name)
    values = found.group(group)
    value: Value = values[key] if key in values else ABSENT[key]
    return value


def _configurations(source: str) -> Sequence[Parameter]:
    now = autotuned.chosen(source)
    return [
        Parameter(
            name=f"{kernel}{autotuned.SUFFIX}",
            values=(*((autotuned.ALL,) if now[kernel] == autotuned.ALL else ()), *range(count)),
        )
        for kernel, count in autotuned.counts(source).items()
        if count > 1
    ]


def _constants(source: str) -> Iterable[Parameter]:
    for name, now in constants(source).items():
        if TUNABLE.search(name):
            values = ladder(name.rpartition(".")[2], now, ())
            if len(values) > 1:
                yield Parameter(name=name, values=values, group=group_of(name))
