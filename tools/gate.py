"""What a candidate's source may not even say. A look at the text: advice for the honest, no wall against the rest.

It closes the short ways (plain names, aliases, constant `getattr`), each with its line. Whoever hides a name well
enough to pass is for the sandbox to contain and for the numbers to find out.
"""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from egg.state.evaluation import Status
from egg.tools.gate_names import Names, forbidden, holds_forbidden

LONGEST = 256 << 10
"""Bytes of a source."""
STANDARD = frozenset(
    ("math", "typing", "typing_extensions", "collections", "functools", "itertools", "dataclasses", "enum", "operator")
    + ("abc", "copy", "numbers", "warnings", "contextlib", "__future__")
)
MODULES = frozenset(("torch", "triton")) | STANDARD
CALLS = frozenset(("exec", "eval", "compile", "open", "__import__", "input", "breakpoint", "globals", "vars", "locals"))
DUNDERS = frozenset(("__init__", "__name__", "__class__", "__doc__", "__version__", "__post_init__", "__qualname__"))
DUNDERS |= {"__call__", "__getitem__", "__setitem__", "__len__", "__iter__", "__setattr__", "__getattr__", "__repr__"}
DUNDERS |= {"__enter__", "__exit__", "__eq__", "__hash__", "__new__", "__members__", "__annotations__", "__debug__"}
FRAMES = frozenset(("f_back", "f_globals", "f_locals", "f_builtins", "gi_frame", "cr_frame", "ag_frame", "tb_frame"))
SAFE_CALLS = frozenset(("int", "float", "bool", "str", "len", "min", "max", "abs", "range", "getattr", "hasattr"))
SUBCLASSES = ("torch.Tensor", "torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.FloatTensor")


class Refusal(NamedTuple):
    """Why a source is not run."""

    status: Status
    feedback: str
    line: int | None = None


def refusal(source: str) -> Refusal | None:
    """The first thing that rules a source out, with its line; None if nothing does."""
    if len(source.encode(errors="replace")) > LONGEST:
        return Refusal(Status.REJECTED, f"the source is longer than {LONGEST >> 10} KiB")
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        said = error.args[0] if error.args else type(error).__name__
        return Refusal(Status.COMPILE_ERROR, f"{f'line {line}: ' if line else ''}syntax error: {said}", line)
    if "ModelNew" not in _top_level(tree):
        return Refusal(Status.REJECTED, "no class ModelNew is defined")
    names = Names(tree)
    for node in ast.walk(tree):
        for found in _looks(node, names):
            line = getattr(node, "lineno", 0)
            return Refusal(found.status, f"line {line}: {found.feedback}", line)
    return None


def _top_level(tree: ast.Module) -> set[str]:
    """Names bound by classes, assignments and imports of the module itself, under `if` too."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


def _looks(node: ast.AST, names: Names) -> Iterator[Refusal]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from _imports(node)
    elif isinstance(node, ast.Name):
        yield from _words(node, names)
    elif isinstance(node, ast.Attribute):
        yield from _attributes(node, names)
    elif isinstance(node, ast.Call):
        yield from _calls(node, names)
    elif isinstance(node, ast.ClassDef):
        yield from _classes(node, names)
    elif isinstance(node, ast.Try | ast.TryStar):
        yield from _tries(node, names)


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[Refusal]:
    if isinstance(node, ast.Import):
        modules = wanted = [alias.name for alias in node.names]
    else:
        modules = ["." * node.level + (node.module or "")]
        wanted = [f"{modules[0]}.{alias.name}" for alias in node.names]
    for module in modules:
        if module.split(".")[0] not in MODULES:
            yield Refusal(Status.REJECTED, f"imports {module}; a kernel needs torch and triton only")
    for name in wanted:
        if reason := forbidden(name):
            yield Refusal(Status.REJECTED, f"imports {name}: {reason}")
        if name.endswith(".*") and holds_forbidden(name[:-2]):
            yield Refusal(Status.REJECTED, f"imports {name}: name what is used")


def _words(node: ast.Name, names: Names) -> Iterator[Refusal]:
    hidden = node.id in CALLS and not names.bound[node.id] and isinstance(node.ctx, ast.Load)
    if hidden or node.id in ("__builtins__", "__loader__", "__spec__"):
        yield Refusal(Status.REJECTED, f"uses {node.id}, which a kernel does not need")
    meant = names.stand_for.get(node.id, "")
    if isinstance(node.ctx, ast.Load) and (reason := forbidden(meant)):
        yield Refusal(Status.REJECTED, f"uses {meant}: {reason}")


def _attributes(node: ast.Attribute, names: Names) -> Iterator[Refusal]:
    dotted = names.dotted(node)
    if _is_inside(node.attr):
        yield Refusal(Status.REJECTED, f"reaches for {node.attr}, which a kernel does not need")
    if isinstance(node.ctx, ast.Store | ast.Del):
        if dotted:
            yield Refusal(Status.CHEAT, f"changes {dotted}, which is not the candidate's")
        if node.attr == "__class__" or _is_type_of_other(node.value):
            yield Refusal(Status.REJECTED, f"changes {node.attr} of a class that is not its own")
    elif reason := forbidden(dotted):
        yield Refusal(Status.REJECTED, f"uses {dotted}: {reason}")


def _is_inside(name: str) -> bool:
    return (name.startswith("__") and name.endswith("__") and name not in DUNDERS) or name in FRAMES


def _calls(node: ast.Call, names: Names) -> Iterator[Refusal]:
    called = names.dotted(node.func) or (node.func.id if isinstance(node.func, ast.Name) else "")
    owner = names.dotted(node.args[0]) if node.args else ""
    method = isinstance(node.func, ast.Attribute) and node.func.attr in ("__setattr__", "__delattr__")
    if called in ("setattr", "delattr") or method:
        changed = owner or (names.dotted(node.func.value) if isinstance(node.func, ast.Attribute) else "")
        if changed and changed != "torch.nn.Module":  # super's own way to set an attribute of the candidate
            yield Refusal(Status.CHEAT, f"changes {changed}, which is not the candidate's")
    if called == "getattr" and len(node.args) > 1:
        yield from _getattr(node, owner)
    if called == "contextlib.suppress":
        yield Refusal(Status.REJECTED, "suppress hides a failing kernel; let it fail")


def _getattr(node: ast.Call, owner: str) -> Iterator[Refusal]:
    wanted = node.args[1]
    if isinstance(wanted, ast.Constant) and isinstance(wanted.value, str):
        name = wanted.value
        if _is_inside(name):
            yield Refusal(Status.REJECTED, f"reaches for {name}, which a kernel does not need")
        if owner and (reason := forbidden(f"{owner}.{name}")):
            yield Refusal(Status.REJECTED, f"uses {owner}.{name}: {reason}")
    elif owner:
        yield Refusal(Status.REJECTED, f"looks up a computed name in {owner}; spell it out")


def _is_type_of_other(node: ast.expr) -> bool:
    """`type(x)`, but not `type(self)`."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type" and node.args):
        return False
    return not (isinstance(node.args[0], ast.Name) and node.args[0].id == "self")


def _classes(node: ast.ClassDef, names: Names) -> Iterator[Refusal]:
    for base in node.bases:
        if names.dotted(base) in SUBCLASSES:
            yield Refusal(Status.CHEAT, f"{node.name} is a tensor of its own kind; return plain tensors")


def _tries(node: ast.Try | ast.TryStar, names: Names) -> Iterator[Refusal]:
    """A handler that goes on after a call of the candidate's own code, or a launch, may hide that it failed."""
    if not node.handlers or all(isinstance(handler.body[-1], ast.Raise) for handler in node.handlers):
        return
    for part in (inner for statement in node.body for inner in ast.walk(statement)):
        if isinstance(part, ast.Call) and not _is_harmless(part, names):
            yield Refusal(Status.REJECTED, "try hides a failing kernel; let it fail")
            return


def _is_harmless(call: ast.Call, names: Names) -> bool:
    if isinstance(call.func, ast.Name) and call.func.id in SAFE_CALLS:
        return call.func.id not in names.bound
    return bool(names.dotted(call.func))
