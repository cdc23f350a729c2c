"""What a candidate raised, as a verdict: which line, what Triton means, what to do about it."""

import traceback

import torch
from triton.compiler.errors import CompilationError
from triton.errors import TritonError
from triton.runtime.errors import OutOfResources

from egg.state.evaluation import Status
from egg.tools.errors import CandidateError

REASON_LINES = 12


def explain(error: Exception, source: str) -> CandidateError:
    """Status and feedback, with the line of the candidate's source where there is one."""
    if isinstance(error, SyntaxError):
        return CandidateError(Status.COMPILE_ERROR, f"line {error.lineno}: syntax error: {error.msg}")
    if isinstance(error, CompilationError):
        site = _compile_site(error, source)
        return CandidateError(Status.COMPILE_ERROR, f"Triton does not compile {site}: {_reason(error)}")
    if isinstance(error, OutOfResources):
        needs = f"it needs {error.required} of {error.name}, the GPU has {error.limit}"
        return CandidateError(Status.COMPILE_ERROR, f"the kernel does not fit: {needs}. Smaller blocks or fewer stages")
    said = str(error)
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)) or "can't allocate memory" in said:
        return CandidateError(Status.OUT_OF_MEMORY, _first_line(said))
    if "CUDA error" in said or "CUDA driver error" in said or "Triton Error [CUDA]" in said:
        return CandidateError(Status.GPU_FAULT, _first_line(said))
    frames = traceback.extract_tb(error.__traceback__)
    in_compiler = isinstance(error, TritonError) or any("triton/compiler/" in frame.filename for frame in frames)
    status = Status.COMPILE_ERROR if in_compiler else Status.RUNTIME_ERROR
    said = f"{_run_site(frames, source)}{type(error).__name__}: {_reason(error)}"
    return CandidateError(status, said + _hint(said))


def _first_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[0]


def _reason(error: BaseException) -> str:
    """The innermost message, since Triton wraps what it meets in a called function."""
    while error.__cause__ is not None:
        error = error.__cause__
    text = getattr(error, "error_message", None) or str(error)
    return "\n".join(text.strip().splitlines()[-REASON_LINES:])


def _compile_site(error: BaseException | None, source: str) -> str:
    """`line 12 (...)`, found by the kernel's text, since Triton counts lines from the kernel's own first one."""
    site = "it"
    while isinstance(error, CompilationError):
        lines, row = (error.src or "").splitlines(), getattr(error.node, "lineno", 0)
        start = source.find(lines[0]) if lines else -1
        if start >= 0 and 0 < row <= len(lines):
            site = f"line {source.count(chr(10), 0, start) + row} (`{lines[row - 1].strip()}`)"
        error = error.__cause__
    return site


def _run_site(frames: traceback.StackSummary, source: str) -> str:
    """Deepest frame whose line stands in the candidate's source at that place."""
    text = source.splitlines()
    for frame in reversed(frames):
        row = frame.lineno or 0
        if frame.line and 0 < row <= len(text) and text[row - 1].strip() == frame.line.strip():
            return f"line {row} (`{frame.line.strip()}`): "
    return ""


def _hint(said: str) -> str:
    if "meta tensor" in said or "is_cuda" in said:
        return ". The forward pass is first run on tensors without data: no .item(), no test of values, no is_cuda"
    if "CUDA" in said:
        return ". Host code must not ask torch.cuda; allocate with device=x.device"
    return ""
