"""What of the problem file goes into kernel.py: the module's construction, and only what that needs. Pure `ast`."""

import ast
from typing import NamedTuple

from egg.tools.parsing import parse

ENTRY = ("get_inputs", "get_init_inputs", "get_small_inputs", "get_small_init_inputs")


class Kept(NamedTuple):
    """Pieces of the new file."""

    imports: str
    definitions: str
    model: str
    """`class ModelNew` without `forward`; its body is never empty."""
    signature: str
    """`forward`'s parameters, `self` included."""
    parameters: tuple[str, ...]
    """Their names, without `self`."""


def keep(source: str, *, forward: bool = False, body: str = "") -> Kept:
    """Cut the file down to what construction needs, and the new `body` of `forward`.

    `forward=True` keeps every method: the module as it is under its new name.
    """
    tree = parse(source)
    model = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Model")
    old_forward = next((n for n in model.body if isinstance(n, ast.FunctionDef) and n.name == "forward"), None)
    arguments = old_forward.args if old_forward else parse("def forward(self): ...").body[0].args  # type: ignore[attr-defined]
    others = [node for node in tree.body if node is not model]
    if not forward:
        (arguments.posonlyargs or arguments.args)[0].arg = "self"
    if not forward:
        for node in (model, *(n for n in others if isinstance(n, ast.ClassDef))):
            _drop_unused_methods(node)
    model = _renamed(model)
    wanted = _names(model) | _names(arguments) | _names(parse(body))
    chosen = _closure(others, wanted)
    imports = [node for node in chosen if isinstance(node, ast.Import | ast.ImportFrom)]
    rest = [node for node in chosen if node not in imports]
    needed = wanted.union(*(_names(node) for node in rest)) if rest else wanted
    return Kept(
        imports="\n".join(text for node in imports if (text := _import(node, needed))),
        definitions="\n\n\n".join(_grouped(rest)),
        model=ast.unparse(model),
        signature=ast.unparse(arguments),
        parameters=tuple(a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs))[1:],
    )


def _drop_unused_methods(node: ast.ClassDef) -> None:
    """Leave what construction reaches: `__init__` and all it calls through `self`."""
    methods = {n.name: n for n in node.body if isinstance(n, ast.FunctionDef)}
    if "forward" not in methods:
        return
    reached, queue = set[str](), [name for name in methods if name == "__init__" or _is_decorated(methods[name])]
    while queue:
        name = queue.pop()
        if name in reached or name == "forward":
            continue
        reached.add(name)
        queue += [n.attr for n in ast.walk(methods[name]) if isinstance(n, ast.Attribute) and n.attr in methods]
    node.body = [n for n in node.body if not isinstance(n, ast.FunctionDef) or n.name in reached]
    if node.body and isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant):
        del node.body[0]
    node.body = node.body or [ast.Pass()]


def _is_decorated(method: ast.FunctionDef) -> bool:
    return bool(method.decorator_list)


def _renamed(model: ast.ClassDef) -> ast.ClassDef:
    """`Model` becomes `ModelNew`, in `super(Model, self)` too."""
    model.name = "ModelNew"
    for node in ast.walk(model):
        if isinstance(node, ast.Name) and node.id == "Model":
            node.id = "ModelNew"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super":
            node.args = []
    return model


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _binds(node: ast.stmt) -> set[str]:
    """Names that a module-level statement defines."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return {node.name} - set(ENTRY)
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _closure(statements: list[ast.stmt], wanted: set[str]) -> list[ast.stmt]:
    """Statements that define what is wanted, and what those need, in the file's order."""
    chosen: set[int] = set()
    while True:
        more = {i for i, node in enumerate(statements) if i not in chosen and _binds(node) & wanted}
        if not more:
            return [statements[i] for i in sorted(chosen)]
        chosen |= more
        wanted = wanted.union(*(_names(statements[i]) for i in more))


def _import(node: ast.Import | ast.ImportFrom, needed: set[str]) -> str:
    names = [alias for alias in node.names if (alias.asname or alias.name).partition(".")[0] in needed]
    plain = isinstance(node, ast.Import)
    names = [alias for alias in names if not (plain and alias.name in ("torch", "triton") and not alias.asname)]
    if not names:
        return ""
    if plain:
        return ast.unparse(ast.Import(names=names))
    assert isinstance(node, ast.ImportFrom)
    return ast.unparse(ast.ImportFrom(module=node.module, names=names, level=node.level))


def _grouped(nodes: list[ast.stmt]) -> list[str]:
    """Source of definitions; neighbouring assignments stay together."""
    blocks: list[str] = []
    for i, node in enumerate(nodes):
        text = ast.unparse(node)
        simple = not isinstance(node, ast.ClassDef | ast.FunctionDef)
        after_simple = i and not isinstance(nodes[i - 1], ast.ClassDef | ast.FunctionDef)
        if simple and after_simple:
            blocks[-1] += "\n" + text
        else:
            blocks.append(text)
    return blocks
