"""Without a GPU: does a forward pass do on real tensors what it does on those without data?

Kernels are compiled, and a profile is taken, from a pass on tensors without data; right and wrong are told from passes
in the interpreter. A candidate can tell the two apart, and would be judged by one thing and praised for another.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from egg.state.settings import Policy
from egg.state.status import Status
from egg.tools.correctness.answers import LONGEST
from egg.tools.errors import CandidateError
from egg.tools.sandbox.client import Bounds, run

SECONDS = 120.0
SHOWN = 4
ENDED = {"timeout": Status.TIMEOUT, "out_of_memory": Status.OUT_OF_MEMORY}
WHERE = "on tensors without data"


def require_same(problem: str, source: str, policy: Policy, judged: Sequence[frozenset[str]]) -> None:
    """Texts of the size that was judged; `judged` is what each call was seen to do.

    What a first call makes a later one may find, and after a change of weights it is made again: so each call must do
    all that a second pass without data does, and nothing beyond what the first two do.

    Raises:
        CandidateError: it does something else.
    """
    first, later = _rehearsed(problem, source, policy)
    beyond = _all(work - (first | later) for work in judged)
    missing = _all(later - work for work in judged)
    if not beyond and not missing:
        return
    parts = [f"only where it is judged: {_named(beyond)}"] if beyond else []
    parts += [f"only {WHERE}: {_named(missing)}"] if missing else []
    said = f"the forward pass does other work where it is judged than {WHERE}, from which kernels are compiled"
    raise CandidateError(Status.CHEAT, f"{said}; {'; '.join(parts)}. Decide by shapes and types alone")


def _rehearsed(problem: str, source: str, policy: Policy) -> tuple[frozenset[str], frozenset[str]]:
    asked = {"problem": problem, "source": source, "policy": policy.value}
    reply = run("egg.tools.tasks.rehearse:rehearse", asked, Bounds(seconds=SECONDS))
    if failure := reply.candidate_error():
        raise failure
    if not reply.ok:
        said = f"a forward pass {WHERE} ended: {reply.error}"
        raise CandidateError(ENDED.get(reply.state, Status.RUNTIME_ERROR), said)
    try:
        first, later = (frozenset(str(done)[:LONGEST] for done in each) for each in reply.value["passes"])
    except (KeyError, TypeError, ValueError) as error:
        raise CandidateError(Status.CHEAT, "what the candidate's process says of its work is forged") from error
    return first, later


def _all(parts: Iterable[frozenset[str]]) -> list[str]:
    return sorted(frozenset[str]().union(*parts))


def _named(done: list[Any]) -> str:
    more = f" and {len(done) - SHOWN} more" if len(done) > SHOWN else ""
    return ", ".join(done[:SHOWN]) + more
