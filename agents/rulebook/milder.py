"""How the rulebook takes a change back: half way in a tuning stage, region by region in the structure stage."""

from typing import Any

from egg.state.stage import Group
from egg.tools.expert.spec import TORCH, Edits, KernelSpec, RegionSpec


def milder(before: KernelSpec, after: KernelSpec, group: Group) -> Edits | None:
    """Edits of `before` that go half as far as `after` does; None where there is nothing between.

    Numbers meet half way, powers of two at a power of two; what has no middle goes back to what it was.
    """
    edits: Edits = {}
    for old in before.regions:
        new = after.region(old.name)
        if new and (values := _between(old.group(group), new.group(group))):
            edits[old.name] = {group: values}
    return edits or None


def to_torch(spec: KernelSpec, failure: str) -> Edits | None:
    """Edits that leave the region named in the failure to PyTorch, or else the most intricate one.

    None if it is the only region left: a kernel without Triton is no kernel.
    """
    ours = [region for region in spec.regions if not region.in_torch]
    if len(ours) < 2:
        return None
    named = [region for region in ours if region.name in failure]
    suspect = named[0] if named else max(ours, key=_intricacy)
    return {suspect.name: {"structure": {"name": TORCH}}}


_BY_INTRICACY = ("pointwise", "reduction", "softmax", "normalisation", "gemm", "attention")


def _intricacy(region: RegionSpec) -> int:
    return _BY_INTRICACY.index(region.kind) if region.kind in _BY_INTRICACY else len(_BY_INTRICACY)


def _between(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    changed = [name for name, value in new.items() if name in old and old[name] != value]
    middles = {name: _middle(old[name], new[name]) for name in changed}
    if not any(middles.values()):
        return {}
    return {name: middle or old[name] for name, middle in middles.items()}


def _middle(one: Any, other: Any) -> int | None:
    """The power of two, or the integer, half way between two; None if there is none."""
    if not all(isinstance(value, int) and not isinstance(value, bool) and value > 0 for value in (one, other)):
        return None
    if all(value & (value - 1) == 0 for value in (one, other)):
        middle = 1 << ((one.bit_length() + other.bit_length()) // 2 - 1)
    else:
        middle = (one + other) // 2
    return middle if middle not in (one, other) else None
