"""What a candidate's source may not even say. A look at the text: advice for the honest, no wall against the rest.

It closes the short ways (plain names, aliases, constant `getattr`), each with its line. Whoever hides a name well
enough to pass is for the sandbox to contain and for the numbers to find out.
"""

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from egg.state.evaluation import Status
from egg.tools.gate_failures import hidden_failures
from egg.tools.gate_names import BY_TEXT, ELSEWHERE, HOOKS, STARS, Names, forbidden
from egg.tools.parsing import parse, parse_expression
from egg.tools.sandbox.records import printable

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
DUNDERS |= {"__enter__", "__exit__", "__eq__", "__hash__", "__new__", "__members__", "__debug__"}
FRAMES = frozenset(("f_back", "f_globals", "f_locals", "f_builtins", "gi_frame", "cr_frame", "ag_frame", "tb_frame"))
ENCODING = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
"""PEP 263."""
HOOK = re.compile(r"register_\w*hook")
REACHING = re.compile(r"\{[^{}]*[.\[]_")
"""A format that reads an attribute or an item of what it prints."""
SUBCLASSES = ("torch.Tensor", "torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.FloatTensor")


class Refusal(NamedTuple):
    """Why a source is not run."""

    status: Status
    feedback: str
    line: int | None = None


def refusal(source: str) -> Refusal | None:
    """The first thing that rules a source out, with its line; None if nothing does."""
    source = source.removeprefix("\ufeff")  # as Python reads a file
    if len(source.encode(errors="replace")) > LONGEST:
        return Refusal(Status.REJECTED, f"the source is longer than {LONGEST >> 10} KiB")
    for number, text in enumerate(source.splitlines()[:4], 1):  # Python looks at two, and knows fewer line breaks
        if (told := ENCODING.match(text)) and told.group(1).lower() not in ("utf-8", "utf8"):
            return Refusal(Status.REJECTED, f"line {number}: is to be read as {told.group(1)}; write UTF-8", number)
    try:
        tree = parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        said = error.args[0] if error.args else type(error).__name__
        where = f"line {line}: " if line else ""
        return Refusal(Status.COMPILE_ERROR, f"{where}syntax error: {printable(str(said))}", line)
    if "ModelNew" not in _top_level(tree):
        return Refusal(Status.REJECTED, "no class ModelNew is defined")
    names = Names(tree)
    for node in _with_annotations(tree):
        for found in _looks(node, names):
            line = getattr(node, "lineno", 0)
            return Refusal(found.status, printable(f"line {line}: {found.feedback}"), line)
    return None


def _with_annotations(tree: ast.Module) -> Iterator[ast.AST]:
    """All nodes, and those of annotations that are written as text: some libraries evaluate them."""
    for node in ast.walk(tree):
        yield node
        annotation = getattr(node, "annotation", None) or getattr(node, "returns", None)
        for part in ast.walk(annotation) if isinstance(annotation, ast.expr) else ():
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                with suppress(SyntaxError, ValueError, RecursionError, MemoryError):  # whoever evaluates it fails too
                    for inner in ast.walk(parse_expression(part.value)):
                        yield ast.copy_location(inner, part)


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
    elif isinstance(node, ast.MatchClass):
        for name in node.kwd_attrs:
            if _is_inside(name) or name in ELSEWHERE:
                yield Refusal(Status.REJECTED, f"reaches for {name}, which a kernel does not need")
    elif isinstance(node, ast.Constant) and names.is_used(node) and REACHING.search(str(node.value)):
        yield Refusal(Status.REJECTED, f"formats a text that reaches into a value: {BY_TEXT}")
    for said in hidden_failures(node, names):
        yield Refusal(Status.REJECTED, f"{said} a failing kernel; let it fail")


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
        if name.endswith(".*") and name[:-2] not in STARS:
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
    if node.attr in ELSEWHERE and not dotted and not (isinstance(node.value, ast.Name) and node.value.id == "self"):
        yield Refusal(
            Status.REJECTED, f"reaches for a module through {node.attr}; a kernel needs torch and triton only"
        )
    if HOOK.fullmatch(node.attr):
        yield Refusal(Status.REJECTED, f"uses {node.attr}: {HOOKS}")
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


def _getattr(node: ast.Call, owner: str) -> Iterator[Refusal]:
    wanted = node.args[1]
    if isinstance(wanted, ast.Constant) and isinstance(wanted.value, str):
        name = wanted.value
        if _is_inside(name):
            yield Refusal(Status.REJECTED, f"reaches for {name}, which a kernel does not need")
        if owner and (reason := forbidden(f"{owner}.{name}")):
            yield Refusal(Status.REJECTED, f"uses {owner}.{name}: {reason}")
    elif owner or not _is_own(node.args[0]):
        owner = owner or ast.unparse(node.args[0])[:40]
        yield Refusal(Status.REJECTED, f"looks up a computed name in {owner}; spell it out")


def _is_own(node: ast.expr) -> bool:
    """`self`, or a part of it."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id == "self"


def _is_type_of_other(node: ast.expr) -> bool:
    """`type(x)`, but not `type(self)`."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type" and node.args):
        return False
    return not (isinstance(node.args[0], ast.Name) and node.args[0].id == "self")


def _classes(node: ast.ClassDef, names: Names) -> Iterator[Refusal]:
    for base in node.bases:
        if names.dotted(base) in SUBCLASSES:
            yield Refusal(Status.CHEAT, f"{node.name} is a tensor of its own kind; return plain tensors")
