"""Kernels with some of their numbers varied.

Those of the expert library are written anew with other decisions; those of tests/honest have the numbers in their text
replaced, on problems of a size that a GPU notices.
"""

from collections.abc import Mapping

from pydantic import Field

from egg.evals.corpus import TESTS
from egg.evals.families import FAMILIES, Family
from egg.evals.library import PROBLEMS
from egg.evals.small import load
from egg.state.device import Device
from egg.state.problem import Problem
from egg.state.record import Record
from egg.state.search import Value
from egg.tools.expert import write_kernel
from egg.tools.problem import load_problem
from egg.tools.store import Store
from egg.tools.tune.apply import sources
from egg.tools.tune.constants import changed


class Variant(Record):
    """One point as a kernel."""

    name: str = Field(description="`BLOCK = 1024, num_warps = 4`")
    source: str | None = Field(description="None: the library cannot write it")


KERNELS = {"softmax": "softmax_online", "transposed_input": "transposed_input"}
"""Of tests/honest, by problem."""


def problem_of(family: Family) -> Problem:
    """The problem at the size that is measured."""
    if family.structure:
        return load_problem(str(PROBLEMS / f"{family.problem}.py"))
    source = (TESTS / "honest" / "problems" / f"{family.problem}.py").read_text()
    return load(family.name, changed(source, dict(family.sizes)))


def variants(family: Family, problem: Problem, device: Device, store: Store) -> list[Variant]:
    """Every point of a family as a kernel, in its order."""
    points = list(family.points())
    if not family.structure:
        text = (TESTS / "honest" / "kernels" / f"{KERNELS[family.problem]}.py").read_text()
        return [Variant(name=_named(point), source=_replaced(family, text, point)) for point in points]
    skeleton = write_kernel(problem, policy=family.policy, device=device, structure=family.structure, store=store)
    region = skeleton.spec.regions[0]
    full = [{f"{region.name}.{name}": value for name, value in point.items()} for point in points]
    written = sources(problem, skeleton.source, full, device, family.policy, store)
    return [Variant(name=_named(point), source=source) for point, source in zip(points, written, strict=True)]


def _replaced(family: Family, text: str, point: Mapping[str, Value]) -> str:
    """The kernel with its own numbers; one that names no number of warps is given it beside its block.

    Raises:
        ValueError: the kernel does not read as the family says.
    """
    block, warps = point["block"], f"num_warps={point['warps']}"
    if family.texts["block"] not in text:
        raise ValueError(f"{family.name}: no {family.texts['block']} in the kernel")
    if family.texts["warps"] in text:
        text = text.replace(family.texts["warps"], warps)
        text = text.replace(family.texts["block"], f"BLOCK={block}")
    else:
        text = text.replace(family.texts["block"], f"BLOCK={block}, {warps}")
    if tile := family.texts.get("tile"):
        text = text.replace(tile, f"cdiv(rows, {block}), triton.cdiv(cols, {block})")
    return text


def _named(point: Mapping[str, Value]) -> str:
    return ", ".join(f"{name.rpartition('.')[2]} = {value}" for name, value in point.items())


def family(name: str) -> Family:
    """By its name; KeyError if there is none."""
    return next(one for one in FAMILIES if one.name == name)
