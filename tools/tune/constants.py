"""Numbers of any source that can be changed from outside: module-level constants, and tables of them.

`NAME = 128`, `NAME: tl.constexpr = 128`, `NAME = tl.constexpr(128)` are called `NAME`; the entries of
`META = dict(BLOCK=128)` or `META = {"BLOCK": 128}` are called `META.BLOCK`.
"""

import ast
from collections.abc import Iterator, Mapping
from typing import TypeGuard

from egg.state.search import Value
from egg.tools.parsing import parse

Edit = tuple[ast.expr, str]


def constants(source: str) -> dict[str, Value]:
    """All of them with their values; none of a source that is not Python."""
    return {name: node.value for name, node in sites(source).items() if isinstance(node.value, bool | int | str)}


def sites(source: str) -> dict[str, ast.Constant]:
    """Where each stands. A name that is assigned twice is none: which of the two counts cannot be told."""
    try:
        body = parse(source).body
    except (SyntaxError, ValueError):
        return {}
    found: dict[str, ast.Constant] = {}
    twice: set[str] = set()
    for statement in body:
        for name, node in _of(statement):
            if name in found:
                twice.add(name)
            found[name] = node
    return {name: node for name, node in found.items() if name not in twice and name.partition(".")[0] not in twice}


def changed(source: str, values: Mapping[str, Value]) -> str:
    """The source with these constants changed; everything else stays as it is written.

    Raises:
        KeyError: there is no such constant.
    """
    known = sites(source)
    return spliced(source, [(known[name], repr(value)) for name, value in values.items()])


def spliced(source: str, edits: list[Edit]) -> str:
    """The source with the text of some expressions, which do not overlap, replaced."""
    lines = source.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    text = b"".join(lines)
    for node, new in sorted(edits, key=lambda edit: (edit[0].lineno, edit[0].col_offset), reverse=True):
        assert node.end_lineno is not None and node.end_col_offset is not None
        begin = starts[node.lineno - 1] + node.col_offset  # ast counts columns in bytes
        end = starts[node.end_lineno - 1] + node.end_col_offset
        text = text[:begin] + new.encode() + text[end:]
    return text.decode()


def _of(statement: ast.stmt) -> Iterator[tuple[str, ast.Constant]]:
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
        return
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    if len(targets) != 1 or not isinstance(targets[0], ast.Name):
        return
    name, value = targets[0].id, statement.value
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "constexpr":
        value = value.args[0] if len(value.args) == 1 and not value.keywords else value
    if _is_plain(value):
        yield name, value
    elif isinstance(value, ast.Dict):
        for key, entry in zip(value.keys, value.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and _is_plain(entry):
                yield f"{name}.{key.value}", entry
    elif isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "dict":
        for keyword in value.keywords:
            if keyword.arg and _is_plain(keyword.value):
                yield f"{name}.{keyword.arg}", keyword.value


def _is_plain(node: ast.expr) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool | int | str)
