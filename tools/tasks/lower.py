"""Triton's first stage: from a kernel's source and the types of its arguments to IR that any process can go on with."""

import re
from functools import cache
from pathlib import Path
from typing import Any

from triton._C.libtriton import ir
from triton.compiler import make_backend

from egg.tools.launched import Job

PLACE = re.compile(r'"([^"\n]+)":(\d+):(\d+)')
OF_MACHINE = ("extern_libs", "arch", "debug", "instrumentation_mode")
SHOWN_ELSEWHERE = ("num_warps", "num_stages")


def lower(source: Any, gpu: Any, options: dict[str, Any], file: str) -> Job:
    """The kernel's IR (TTIR); what the compiler refuses to parse it raises, with the place.

    Args:
        source: an `ASTSource`.
        gpu: a `GPUTarget`.
        options: as the launch gives them.
        file: the candidate's path, as locations name it.
    """
    backend: Any = make_backend(gpu)
    asked = backend.parse_options(dict(options))
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    module = source.make_ir(gpu, asked, backend.get_codegen_implementation(asked), backend.get_module_map(), context)
    stages: dict[str, Any] = {}
    backend.add_stages(stages, asked, source.language)
    module = stages["ttir"](module, {"target": gpu, **asked.__dict__})
    text, lines = numbered(str(module), file)
    plain = {name: value for name, value in vars(asked).items() if name in asked.__dataclass_fields__}
    return Job(name=module.get_entry_func_name(), ttir=text, options=plain, lines=lines)


def numbered(ttir: str, file: str) -> tuple[str, tuple[int, ...]]:
    """The text with each line of `file` replaced by the number of its first mention, and the lines; no columns.

    So a kernel that has only moved within its file has the same text.
    """
    lines: dict[int, int] = {}

    def place(found: re.Match[str]) -> str:
        name, line = found.group(1), int(found.group(2))
        if name != file:
            return f'"{Path(name).name}":{line}:0'
        return f'"{Path(file).name}":{lines.setdefault(line, len(lines) + 1)}:0'

    text = PLACE.sub(place, ttir)
    return text, tuple(lines)


@cache
def _usual(gpu: Any) -> dict[str, Any]:
    backend: Any = make_backend(gpu)
    return dict(vars(backend.parse_options({})))


def unusual(options: dict[str, Any], gpu: Any) -> dict[str, str]:
    """Options that are not the target's own defaults, as text; the numbers of warps and stages are told apart."""
    usual = _usual(gpu)
    skipped = (*OF_MACHINE, *SHOWN_ELSEWHERE)
    return {
        name: str(value) for name, value in options.items() if name not in skipped and value != usual.get(name, value)
    }
