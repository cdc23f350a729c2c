"""From points to sources: expert kernels by edits of their decisions, any other by its constants and configurations."""

from collections.abc import Sequence
from itertools import dropwhile

from egg.state.device import Device
from egg.state.problem import Problem
from egg.state.search import Values
from egg.state.settings import Policy
from egg.tools.expert import Edits, KernelSpec, spec_of, without_stale, write_variants
from egg.tools.store import Store
from egg.tools.tune import autotuned
from egg.tools.tune.constants import changed, constants
from egg.tools.tune.space import ABSENT, is_decision


class Rewritten(Exception):
    """The kernel is no more what the library writes for the decisions in its heading: somebody changed it by hand."""


def sources(
    problem: Problem, source: str, points: Sequence[Values], device: Device, policy: Policy, store: Store
) -> list[str | None]:
    """The kernel of each point; None where the library cannot write it.

    Raises:
        Rewritten: among the points is the kernel as it is, and the library does not write it so.
    """
    spec = spec_of(source)
    if spec is None or not all(map(is_decision, (name for values in points for name in values))):
        return [_rewritten(source, values) for values in points]
    edits = [_edits(spec, values) for values in points]
    written = write_variants(problem, policy=policy, device=device, spec=spec, variants=edits, store=store)
    found: list[str | None] = []
    for edit, skeleton in zip(edits, written, strict=True):
        text = tidy(skeleton.source) if skeleton and not _given_up(spec, skeleton.spec) else None
        if not edit and (text is None or code_of(text) != code_of(source)):
            raise Rewritten
        found.append(text if edit else source)
    return found


def code_of(source: str) -> str:
    """The source without the comments at its head, which say what it was written from: what two equal kernels share."""
    lines = source.splitlines(keepends=True)
    return "".join(dropwhile(lambda line: line.startswith("#") or not line.strip(), lines))


def tidy(source: str) -> str:
    """One newline at the end and none before the first line, as the ids of all kernels are of."""
    return source.strip("\n") + "\n"


def _edits(spec: KernelSpec, values: Values) -> Edits:
    """What a point changes of the decisions."""
    edits: Edits = {}
    for name, value in values.items():
        region, group, key = name.split(".")
        decided = spec.region(region)
        if decided is not None and decided.model_dump()[group].get(key, ABSENT.get(key)) != value:
            edits.setdefault(region, {}).setdefault(group, {})[key] = value
    return edits


def _given_up(before: KernelSpec, after: KernelSpec) -> bool:
    """Whether a region that was Triton became a PyTorch call: the library cannot write it so."""
    then = {region.name: region.in_torch for region in before.regions}
    return not after.regions or any(region.in_torch and not then.get(region.name, True) for region in after.regions)


def _rewritten(source: str, values: Values) -> str:
    known: Values = constants(source)
    own: Values = {}
    choice: dict[str, int | str] = {}
    for name, value in values.items():
        if name.endswith(autotuned.SUFFIX):
            choice[name.removesuffix(autotuned.SUFFIX)] = value
        elif known[name] != value:  # what stays is not even spelled anew
            own[name] = value
    written = autotuned.picked(changed(source, own), choice)
    return without_stale(written) if own or choice else written
