"""Who does the work? Conclusions from what a candidate's children tell, none of which is taken on trust alone."""

from typing import Any

from egg.state.evaluation import Status
from egg.tools.errors import CandidateError


def read_replay(told: Any) -> dict[str, Any] | None:
    """What `tasks.replay` found, well-formed; None if it was not asked.

    Raises:
        KeyError, TypeError: it is forged.
    """
    if told is None:
        return None
    return {
        "idle": bool(told["idle"]),
        "answered": "".join(c for c in str(told["answered"])[:80] if c.isprintable()),
        "hides": bool(told["hides"]),
    }


def no_work(replay: dict[str, Any] | None, launches: int) -> CandidateError | None:
    """The verdict on a candidate whose Triton launches are none, not missed, or not needed."""
    if replay is None:
        return None
    if not launches:
        return CandidateError(Status.NOT_TRITON, "no Triton kernel is launched")
    if replay["idle"]:
        said = "the output is the same without the candidate's Triton launches: PyTorch computes it"
        return CandidateError(Status.NOT_TRITON, said)
    if replay["answered"]:
        said = f"PyTorch has the answer without any Triton launch (from {replay['answered']}); the kernels only copy it"
        return CandidateError(Status.NOT_TRITON, said)
    if replay["hides"]:
        said = "a launch that fails goes unnoticed: the forward pass ends as if it had worked; let it fail"
        return CandidateError(Status.REJECTED, said)
    return None
