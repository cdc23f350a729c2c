"""Make a problem small enough for the interpreter by rewriting its integer constants.

Which sizes a module tolerates (divisible by the heads, even, a power of two) only it knows, so this proposes plans in
order of preference, from ragged to round, and a child tries them on the real reference.
"""

import ast
from collections.abc import Callable, Iterator
from math import floor, lcm, log2

from egg.tools.parsing import parse

LARGEST_ELEMENTS = 1 << 16
"""Of the largest tensor, at most."""
AIM_ELEMENTS = 1 << 12
"""The interpreter takes about a millisecond for every few operations of a program, so a few thousand elements it is."""
SMALLEST = 9
"""Constants below are kernel sizes, strides, numbers of layers: they stay."""

Constants = dict[str, int]


def constants(source: str) -> Constants:
    """Integers that may be sizes: `name = 4096`, elements of a module-level tuple (`name.0`), literals in the two
    input functions (`=4096`, the same wherever it appears there)."""
    found: Constants = {}
    for key, node in _sites(parse(source)):
        assert isinstance(node.value, int)
        found[key] = node.value
    return found


def rewrite(source: str, values: Constants) -> str:
    """The source with some constants changed; everything else stays as it is written."""
    lines = source.splitlines(keepends=True)
    sites = [(node, values[key]) for key, node in _sites(parse(source)) if key in values]
    for node, value in sorted(sites, key=lambda site: (site[0].lineno, site[0].col_offset), reverse=True):
        assert node.end_col_offset is not None
        line = lines[node.lineno - 1].encode()
        lines[node.lineno - 1] = (line[: node.col_offset] + str(value).encode() + line[node.end_col_offset :]).decode()
    return "".join(lines)


def resized(candidate: str, source: str, small: Constants) -> str:
    """A candidate with the sizes that it took over from the problem's `source`, by name and value, made `small` too.

    Without it a module whose `__init__` reads such a constant would be built at full size and called at the small one.
    """
    try:
        own = constants(candidate)
    except (SyntaxError, ValueError):
        return candidate  # whoever loads it says why it cannot be read
    full = constants(source)
    taken = {name: size for name, size in small.items() if name in own and own[name] == full.get(name)}
    return rewrite(candidate, taken)


def plans(full: Constants, largest: int) -> Iterator[Constants]:
    """Proposals, best first. `largest`: elements of the largest tensor at full size.

    Every size v becomes about v**a, which keeps long dimensions long; each kind of plan is tried with smaller and
    smaller a until it fits.
    """
    start = min(1.0, log2(AIM_ELEMENTS) / log2(max(largest, 2)))
    seen: list[Constants] = []
    for kind in KINDS:
        for factor in (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4):
            plan = {k: v for k, v in kind(full, start * factor).items() if v != full[k]}
            if plan and plan not in seen:
                seen.append(plan)
                yield plan


def _sites(tree: ast.Module) -> Iterator[tuple[str, ast.Constant]]:
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            if isinstance(target, ast.Name):
                yield from _in_value(target.id, statement.value)
            elif isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
                for name, value in zip(target.elts, statement.value.elts, strict=False):
                    if isinstance(name, ast.Name):
                        yield from _in_value(name.id, value)
        elif isinstance(statement, ast.FunctionDef) and statement.name in ("get_inputs", "get_init_inputs"):
            for node in ast.walk(statement):
                if _is_size(node):
                    assert isinstance(node, ast.Constant)
                    yield f"={node.value!r}", node


def _in_value(name: str, value: ast.expr) -> Iterator[tuple[str, ast.Constant]]:
    if _is_size(value):
        assert isinstance(value, ast.Constant)
        yield name, value
    elif isinstance(value, ast.Tuple | ast.List):
        for index, element in enumerate(value.elts):
            yield from _in_value(f"{name}.{index}", element)


def _is_size(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value >= SMALLEST


def _ragged(full: Constants, exponent: float, step: int = 1) -> Constants:
    """Odd multiples of `step`, all different: a mixed-up dimension shows, and every block has a tail."""
    plan: Constants = {}
    for key, value in sorted(full.items(), key=lambda item: item[1]):
        count = max(1, round(value**exponent / step))
        count += 1 - count % 2
        while step * count in plan.values():
            count += 2
        plan[key] = min(step * count, value)
    return plan


def _divisible(full: Constants, exponent: float, keep: int) -> Constants:
    """Small constants first (kept up to `keep`); large ones are odd multiples of the small ones that divide them."""
    plan: Constants = {}
    for key, value in sorted(full.items(), key=lambda item: item[1]):
        about = value if value <= keep else max(3, round(value**exponent))
        unit = lcm(*(plan[k] for k, v in full.items() if k in plan and v < value and value % v == 0))
        count = max(1, round(about / unit))
        count += 1 - count % 2 if value > keep else 0
        plan[key] = value if value <= keep else min(unit * count, value)
    return plan


def _heads(full: Constants, exponent: float, step: int) -> Constants:
    """Constants that divide another become 3, those they divide multiples of 3 * step; the rest is ragged."""
    plan = _ragged(full, exponent)
    divisors = {k for k, v in full.items() if v <= 64 and any(w > v and w % v == 0 for w in full.values())}
    for key, value in full.items():
        if key in divisors:
            plan[key] = min(3, value)
        elif any(value > full[d] and value % full[d] == 0 for d in divisors):
            plan[key] = min(value, 3 * step * max(1, round(value**exponent / (3 * step))))
    return plan


def _powers(full: Constants, exponent: float, keep: int) -> Constants:
    return {k: v if v <= keep else 1 << max(1, floor(log2(v) * exponent)) for k, v in full.items()}


KINDS: tuple[Callable[[Constants, float], Constants], ...] = (
    lambda full, a: _ragged(full, a),
    lambda full, a: _ragged(full, a, 2),
    lambda full, a: _heads(full, a, 5),
    lambda full, a: _heads(full, a, 6),
    lambda full, a: _divisible(full, a, 0),
    lambda full, a: _divisible(full, a, 64),
    lambda full, a: _ragged(full, a, 4),
    lambda full, a: _ragged(full, a, 8),
    lambda full, a: _ragged(full, a, 16),
    lambda full, a: _powers(full, a, 0),
    lambda full, a: _powers(full, a, 64),
)
