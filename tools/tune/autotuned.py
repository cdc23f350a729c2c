"""`@triton.autotune` kernels: which of the configurations is used, written as a slice of the list.

`configs=CONFIGS` becomes `configs=CONFIGS[2:3]`: Triton does not time a single configuration, and whoever takes the
slice away has the autotuning back.
"""

import ast
from collections.abc import Mapping

from egg.tools.parsing import parse
from egg.tools.tune.constants import spliced

ALL = "all"
"""The choice of a kernel that still autotunes."""
SUFFIX = ".config"


def kernels(source: str) -> dict[str, ast.expr]:
    """The `configs` of each autotuned kernel, by its name; without a slice that picks one already."""
    try:
        body = parse(source).body
    except (SyntaxError, ValueError):
        return {}
    found: dict[str, ast.expr] = {}
    for function in body:
        if isinstance(function, ast.FunctionDef):
            for decorator in function.decorator_list:
                if (configs := _configs(decorator)) is not None:
                    found[function.name] = configs
    return found


def counts(source: str) -> dict[str, int]:
    """How many configurations each kernel has, where they are spelled out as a list (here or at module level)."""
    lists = _lists(source)
    found: dict[str, int] = {}
    for name, configs in kernels(source).items():
        whole, _ = unsliced(configs)
        known = lists.get(whole.id) if isinstance(whole, ast.Name) else whole
        if isinstance(known, ast.List) and not any(isinstance(item, ast.Starred) for item in known.elts):
            found[name] = len(known.elts)
    return found


def chosen(source: str) -> dict[str, int | str]:
    """Which configuration each kernel uses: a number, or `all`."""
    picked = {name: unsliced(configs)[1] for name, configs in kernels(source).items()}
    return {name: ALL if number is None else number for name, number in picked.items()}


def picked(source: str, choice: Mapping[str, int | str]) -> str:
    """The source with these kernels' configurations chosen.

    Raises:
        KeyError: there is no such autotuned kernel.
    """
    found, edits = kernels(source), []
    for name, number in choice.items():
        whole, _ = unsliced(found[name])
        text = ast.get_source_segment(source, whole) or ast.unparse(whole)
        if isinstance(whole, ast.BinOp | ast.IfExp | ast.GeneratorExp):
            text = f"({text})"
        edits.append((found[name], text if number == ALL else f"{text}[{number}:{int(number) + 1}]"))
    return spliced(source, edits)


def unsliced(configs: ast.expr) -> tuple[ast.expr, int | None]:
    """The whole list, and the number that a slice of length one picks."""
    if isinstance(configs, ast.Subscript) and isinstance(configs.slice, ast.Slice):
        low, high = configs.slice.lower, configs.slice.upper
        if isinstance(low, ast.Constant) and isinstance(high, ast.Constant) and configs.slice.step is None:
            first, last = low.value, high.value
            if isinstance(first, int) and isinstance(last, int) and last == first + 1:
                return configs.value, first
    return configs, None


def _configs(decorator: ast.expr) -> ast.expr | None:
    if not isinstance(decorator, ast.Call):
        return None
    called = decorator.func.attr if isinstance(decorator.func, ast.Attribute) else getattr(decorator.func, "id", "")
    if called != "autotune":
        return None
    named = next((keyword.value for keyword in decorator.keywords if keyword.arg == "configs"), None)
    return named or (decorator.args[0] if decorator.args else None)


def _lists(source: str) -> dict[str, ast.expr]:
    assigned = (node for node in parse(source).body if isinstance(node, ast.Assign) and len(node.targets) == 1)
    return {node.targets[0].id: node.value for node in assigned if isinstance(node.targets[0], ast.Name)}
