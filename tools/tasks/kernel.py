"""Worker task: kernels from Triton's IR (TTIR text) to machine code for a target, one after another.

Nothing of a candidate is loaded here but the text of its IR, so what it says of a kernel may be kept for every other
candidate that has the same one.
"""

import re
from collections.abc import Generator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from triton import knobs
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget, Language
from triton.compiler import make_backend
from triton.runtime.errors import PTXASError

from egg.tools.assembly import amdgcn, ptx, sass
from egg.tools.assembly.compiled import Compiled
from egg.tools.instructions import altogether, efforts
from egg.tools.spread import lines_touched
from egg.tools.tasks.cubin import Resources, disassembled, resources
from egg.tools.tasks.gpu_target import triton_target

SOURCE = "candidate.py"
"""The file that the IR's locations name."""
REASON_LINES = 8

Json = dict[str, Any]


def serve(payload: Json) -> Generator[Json, Json, None]:
    """Yields `Compiled` as JSON for each message with `ttir`, `options` and `target`."""
    knobs.nvidia.dump_ptxas_log = True
    message = yield {}
    while True:
        try:
            compiled = finish(message["ttir"], message["options"], message["target"])
        except Exception as error:  # whatever the compiler raises is its verdict on this kernel
            compiled = Compiled(failed=_reason(error), by_ptxas=isinstance(error, PTXASError))
        message = yield compiled.model_dump(mode="json")


def finish(ttir: str, options: Json, target: str) -> Compiled:
    """Compile IR that is past Triton's first stage.

    Raises:
        RuntimeError, PTXASError: the compiler refuses.
    """
    gpu = triton_target(target)
    backend: Any = make_backend(gpu)
    asked = backend.parse_options({name: _tuples(value) for name, value in options.items()})
    module = _parsed(ttir, backend)
    stages: dict[str, Any] = {}
    backend.add_stages(stages, asked, Language.TRITON)
    metadata: Json = {"target": gpu, **asked.__dict__}
    texts: Json = {}
    log = StringIO()
    with redirect_stdout(log):
        for name, stage in stages.items():
            if name not in ("ttir", "hsaco"):
                module = stage(module, metadata)
                texts[name] = str(module) if name == "ttgir" else module  # the next stage changes it in place
    return _read(gpu, texts, metadata, log.getvalue())


def _parsed(ttir: str, backend: Any) -> Any:
    path = Path("kernel.ttir")
    path.write_text(ttir)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    module = ir.parse_mlir_module(str(path), context)
    module.context = context
    return module


def _read(gpu: GPUTarget, texts: Json, metadata: Json, log: str) -> Compiled:
    shape = {
        "shared_bytes": metadata["shared"],
        "tensor_memory": metadata.get("tmem_size") or 0,
        "warps": metadata["num_warps"],
    }
    if gpu.backend == "hip":
        return amdgcn.read(texts["amdgcn"], SOURCE).model_copy(update=shape)
    used: Resources = resources(texts["cubin"], metadata["name"], log)
    loads, stores, bulk = ptx.accesses(texts["ptx"], SOURCE)
    effort = efforts(texts["ptx"])
    once = altogether(effort, ())
    return Compiled(
        registers=used.registers,
        spills=used.spills,
        stack_bytes=used.stack,
        tensor_core=ptx.matrix_class(texts["ptx"]),
        bulk=bulk,
        loads=loads,
        stores=stores,
        effort=effort,
        spread=lines_touched(texts["ttgir"], once.global_bytes, once.accesses),
        spilled=sass.spills(disassembled(texts["cubin"]), SOURCE) if used.spills else (),
        **shape,
    )


def _tuples(value: Any) -> Any:
    """As JSON has no tuples, and options are hashed."""
    return tuple(_tuples(each) for each in value) if isinstance(value, list) else value


def _reason(error: Exception) -> str:
    text = re.sub(r"\nRepro command:.*", "", str(error), flags=re.S)
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return f"{type(error).__name__}: " + "\n".join(lines[-REASON_LINES:])
