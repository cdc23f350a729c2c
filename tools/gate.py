"""What a candidate's source may not even say. A look at the text: advice for the honest, no wall against the rest."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from egg.state.evaluation import Status

STANDARD = ("math", "typing", "collections", "functools", "itertools", "dataclasses", "enum", "operator", "__future__")
MODULES = frozenset(("torch", "triton", *STANDARD))
CALLS = frozenset(["exec", "eval", "compile", "open", "__import__", "input", "breakpoint", "globals", "vars"])
TORCH = {
    "torch.compile": "torch.compile writes its own kernels",
    "torch.load": "loading files is not allowed",
    "torch.utils.cpp_extension": "only Triton is compiled",
    "torch.ops.load_library": "only Triton is compiled",
    "torch.cuda.Stream": "all work belongs on the current stream",
    "torch.cuda.stream": "all work belongs on the current stream",
    "torch.cuda.CUDAGraph": "a captured graph replays old addresses",
    "torch.cuda.graph": "a captured graph replays old addresses",
    "torch.cuda.make_graphed_callables": "a captured graph replays old addresses",
    "torch.multiprocessing": "no other process is needed",
}
LONGEST = 256 << 10
"""Bytes of a source."""


class Refusal(NamedTuple):
    """Why a source is not run."""

    status: Status
    feedback: str


def refusal(source: str) -> Refusal | None:
    """The first thing that rules a source out, with its line; None if nothing does."""
    if len(source.encode()) > LONGEST:
        return Refusal(Status.REJECTED, f"the source is longer than {LONGEST >> 10} KiB")
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        return Refusal(Status.COMPILE_ERROR, f"{f'line {line}: ' if line else ''}syntax error: {error.args[0]}")
    if not any(isinstance(node, ast.ClassDef) and node.name == "ModelNew" for node in tree.body):
        return Refusal(Status.REJECTED, "no class ModelNew is defined")
    names = _aliases(tree)
    for node in ast.walk(tree):
        for found in (*_imports(node), *_calls(node), *_attributes(node, names), *_patches(node, names)):
            return Refusal(found.status, f"line {getattr(node, 'lineno', 0)}: {found.feedback}")
    return _swallows_failure(tree)


def _imports(node: ast.AST) -> Iterator[Refusal]:
    if isinstance(node, ast.Import):
        modules = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        modules = ["." if node.level else node.module or ""]
    else:
        return
    for module in modules:
        if module.split(".")[0] not in MODULES:
            yield Refusal(Status.REJECTED, f"imports {module}; a kernel needs torch and triton only")
        if module in TORCH:
            yield Refusal(Status.REJECTED, f"imports {module}: {TORCH[module]}")


def _calls(node: ast.AST) -> Iterator[Refusal]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
        yield Refusal(Status.REJECTED, f"calls {node.func.id}, which a kernel does not need")


def _attributes(node: ast.AST, names: dict[str, str]) -> Iterator[Refusal]:
    if isinstance(node, ast.Attribute) and node.attr.startswith("__") and node.attr not in ("__init__", "__name__"):
        yield Refusal(Status.REJECTED, f"reaches for {node.attr}, which a kernel does not need")
    if isinstance(node, ast.Attribute) and (reason := TORCH.get(_dotted(node, names))):
        yield Refusal(Status.REJECTED, f"uses {_dotted(node, names)}: {reason}")


def _patches(node: ast.AST, names: dict[str, str]) -> Iterator[Refusal]:
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        targets = [node.target]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("setattr", "delattr"):
        targets = [ast.Attribute(node.args[0], "")] if node.args else []
    for target in targets:
        name = _dotted(target, names) if isinstance(target, ast.Attribute) else ""
        if name.split(".")[0] in ("torch", "triton"):
            yield Refusal(Status.CHEAT, f"changes {name.rstrip('.')}, which is not the candidate's")


def _swallows_failure(tree: ast.Module) -> Refusal | None:
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and any(isinstance(part, ast.Subscript | ast.Call) for part in ast.walk(node)):
            return Refusal(Status.REJECTED, f"line {node.lineno}: try hides a failing kernel; let it fail")
    return None


def _aliases(tree: ast.Module) -> dict[str, str]:
    """What the names that imports bind stand for: `tl` -> `triton.language`."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {
                a.asname or a.name.split(".")[0]: a.name if a.asname else a.name.split(".")[0] for a in node.names
            }
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    return names


def _dotted(node: ast.expr, names: dict[str, str]) -> str:
    """`torch.cuda.Event` for the attribute that it is, or an empty string."""
    if isinstance(node, ast.Name):
        return names.get(node.id, "")
    if isinstance(node, ast.Attribute):
        base = _dotted(node.value, names)
        return f"{base}.{node.attr}" if base else ""
    return ""
