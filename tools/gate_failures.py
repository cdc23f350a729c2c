"""Ways in which a source may hide that a kernel of its own has failed."""

import ast
from collections.abc import Iterator

from egg.tools.gate_names import Names

SAFE_CALLS = frozenset(("int", "float", "bool", "str", "len", "min", "max", "abs", "range", "getattr", "hasattr"))


def hidden_failures(node: ast.AST, names: Names) -> Iterator[str]:
    """What hides one here, as the beginning of a sentence."""
    if isinstance(node, ast.Try | ast.TryStar) and _swallows(node) and _may_fail(node, names):
        yield "try hides"
    elif isinstance(node, ast.Call) and names.dotted(node.func) == "contextlib.suppress":
        yield "suppress hides"
    elif isinstance(node, ast.FunctionDef) and node.name == "__exit__" and any(map(_answers, ast.walk(node))):
        yield "what __exit__ returns hides"


def _swallows(node: ast.Try | ast.TryStar) -> bool:
    """Whether the source goes on after a failure: a handler that does not end by raising, or a way out of `finally`."""
    leaves = any(isinstance(part, ast.Return | ast.Break | ast.Continue) for part in _inside(node.finalbody))
    return leaves or not all(isinstance(handler.body[-1], ast.Raise) for handler in node.handlers)


def _may_fail(node: ast.Try | ast.TryStar, names: Names) -> bool:
    """Whether something in it is the candidate's own code, a launch, or whatever runs where it yields to."""
    for part in _inside(node.body):
        if isinstance(part, ast.Yield | ast.YieldFrom) or (
            isinstance(part, ast.Call) and not _is_harmless(part, names)
        ):
            return True
    return False


def _inside(statements: list[ast.stmt]) -> Iterator[ast.AST]:
    for statement in statements:
        yield from ast.walk(statement)


def _is_harmless(call: ast.Call, names: Names) -> bool:
    if isinstance(call.func, ast.Name) and call.func.id in SAFE_CALLS:
        return call.func.id not in names.bound
    return bool(names.dotted(call.func))


def _answers(node: ast.AST) -> bool:
    """Whether it returns more than a plain no."""
    if not isinstance(node, ast.Return) or node.value is None:
        return False
    return not (isinstance(node.value, ast.Constant) and not node.value.value)
