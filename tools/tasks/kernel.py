"""Worker task: kernels from Triton's IR (TTIR text) to machine code for a target, one after another.

Nothing of a candidate is loaded here but the text of its IR, so what it says of a kernel may be kept for every other
candidate that has the same one.
"""

import os
import re
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, redirect_stdout
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
COMPLAINT = re.compile(r"(candidate\.py:\d+(?=:))?[^;]*\berror\s*: (.*)")
REASON_LINES = 5
MOST_HEARD = 1 << 20

Json = dict[str, Any]


def serve(payload: Json) -> Generator[Json, Json, None]:
    """Yields `Compiled` as JSON for each message with `ttir`, `options` and `target`."""
    knobs.nvidia.dump_ptxas_log = True
    message = yield {}
    while True:
        with _overheard() as heard:
            try:
                compiled = finish(message["ttir"], message["options"], message["target"])
                if not message["target"].startswith("sm_") and _complaints(heard()):
                    raise RuntimeError("LLVM goes on after an error, without what it is about")
            except Exception as error:  # whatever the compiler raises is its verdict on this kernel
                compiled = Compiled(failed=_reason(error, heard()), by_ptxas=isinstance(error, PTXASError))
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
            if name != "ttir":
                module = stage(module, metadata)
                if name == "ptx":
                    module = ptx.steadied(module)
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


def _reason(error: Exception, heard: str) -> str:
    """What the compiler says, each thing once: MLIR and LLVM complain on stderr, ptxas in its log."""
    said = str(error) if isinstance(error, PTXASError) else heard
    complaints = _complaints(said)
    first = (str(error).strip().splitlines() or ["no message"])[0]
    if isinstance(error, PTXASError) and complaints:
        return "\n".join(complaints[:REASON_LINES])
    return "\n".join([f"{type(error).__name__}: {first}", *complaints][:REASON_LINES])


def _complaints(said: str) -> list[str]:
    """Errors in what compilers print, each once, with the place in the source where they name it."""
    found = (COMPLAINT.search(line) for line in said.splitlines())
    return list(dict.fromkeys(f"{place or ''}{text.strip()}" for place, text in (f.groups() for f in found if f)))


@contextmanager
def _overheard() -> Iterator[Callable[[], str]]:
    """What is written to this process's stderr, by whatever code; asked for afterwards."""
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)

        def heard() -> str:
            file.seek(0)
            return file.read(MOST_HEARD).decode(errors="replace")

        try:
            yield heard
        finally:
            os.dup2(kept, 2)
            os.close(kept)
