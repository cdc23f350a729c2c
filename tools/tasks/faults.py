"""What a candidate raised, as a verdict: which line, what Triton means, what to do about it."""

import traceback

import torch
from triton.compiler.errors import CompilationError
from triton.errors import TritonError
from triton.runtime.errors import OutOfResources

from egg.state.evaluation import Status
from egg.state.fault import Fault
from egg.tools.errors import NO_MEMORY, CandidateError

REASON_LINES = 12
REASON_CHARS = 4000


def explain(error: Exception, source: str) -> CandidateError:
    """Status and feedback, with the line of the candidate's source where there is one."""
    if isinstance(error, SyntaxError):
        return _told(Status.COMPILE_ERROR, f"line {error.lineno}: syntax error: {error.msg}", error.lineno)
    if isinstance(error, CompilationError):
        site, line = _compile_site(error, source)
        return _told(Status.COMPILE_ERROR, f"Triton does not compile {site}: {_reason(error)}", line)
    if isinstance(error, OutOfResources):
        needs = f"it needs {error.required} of {error.name}, the GPU has {error.limit}"
        return CandidateError(Status.COMPILE_ERROR, f"the kernel does not fit: {needs}. Smaller blocks or fewer stages")
    said = words_of(error)
    if out_of_memory(error):
        return CandidateError(Status.OUT_OF_MEMORY, _first_line(said))
    if "CUDA error" in said or "CUDA driver error" in said or "Triton Error [CUDA]" in said:
        return CandidateError(Status.GPU_FAULT, _first_line(said))
    frames = traceback.extract_tb(error.__traceback__)
    in_compiler = isinstance(error, TritonError) or any("triton/compiler/" in frame.filename for frame in frames)
    status = Status.COMPILE_ERROR if in_compiler else Status.RUNTIME_ERROR
    site, line = _run_site(frames, source)
    said = f"{site}{type(error).__name__}: {_reason(error)}"
    return _told(status, said + _hint(said), line)


def words_of(error: BaseException) -> str:
    """What an exception says, cut short; a class of the candidate's may raise when it is asked."""
    try:
        return str(error)[:REASON_CHARS]
    except Exception:
        return ""


def out_of_memory(error: BaseException) -> bool:
    """Whether an allocation failed, on the GPU or on the host."""
    said = words_of(error)
    return isinstance(error, (MemoryError, torch.OutOfMemoryError)) or any(sign in said for sign in NO_MEMORY)


def _told(status: Status, said: str, line: int | None) -> CandidateError:
    return CandidateError(status, said, [Fault(kind=status, text=said, line=line)])


def _first_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[0]


def _reason(error: BaseException) -> str:
    """The innermost message, since Triton wraps what it meets in a called function."""
    while error.__cause__ is not None:
        error = error.__cause__
    told = getattr(error, "error_message", None)
    text = told[:REASON_CHARS] if isinstance(told, str) and told else words_of(error)
    return "\n".join(text.strip().splitlines()[-REASON_LINES:])


def _compile_site(error: BaseException | None, source: str) -> tuple[str, int | None]:
    """`line 12 (...)`, found by the kernel's text, since Triton counts lines from the kernel's own first one."""
    site, line = "it", None
    while isinstance(error, CompilationError):
        lines, row = (error.src or "").splitlines(), getattr(error.node, "lineno", 0)
        start = source.find(lines[0]) if lines else -1
        if start >= 0 and 0 < row <= len(lines):
            line = source.count(chr(10), 0, start) + row
            site = f"line {line} (`{lines[row - 1].strip()}`)"
        error = error.__cause__
    return site, line


def _run_site(frames: traceback.StackSummary, source: str) -> tuple[str, int | None]:
    """Deepest frame whose line stands in the candidate's source at that place."""
    text = source.splitlines()
    for frame in reversed(frames):
        row = frame.lineno or 0
        if frame.line and 0 < row <= len(text) and text[row - 1].strip() == frame.line.strip():
            return f"line {row} (`{frame.line.strip()}`): ", row
    return "", None


def _hint(said: str) -> str:
    if "meta tensor" in said or "is_cuda" in said:
        return ". The forward pass is first run on tensors without data: no .item(), no test of values, no is_cuda"
    if "CUDA" in said:
        return ". Host code must not ask torch.cuda; allocate with device=x.device"
    return ""
