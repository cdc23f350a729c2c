"""Sizes that the problem does not ask for: told with the verdict, never held against a kernel, which may be made for
the problem's own."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from egg.state.device import Device
from egg.state.errors import MachineError, UserError
from egg.state.fault import HeldOut
from egg.state.problem import Problem
from egg.state.settings import Policy
from egg.state.status import Status
from egg.tools.correctness.again import once_more
from egg.tools.correctness.step import Step
from egg.tools.correctness.trial import Trial
from egg.tools.errors import CandidateError
from egg.tools.gpu_time import as_here
from egg.tools.sandbox.client import Bounds, run
from egg.tools.shrink import Constants, constants, resized, rewrite

PRIMES = (11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)
GROWTH = 2
"""Times the first constant, where one larger size is tried."""
MOST_BYTES = {True: 16 << 30, False: 4 << 20}
"""Of inputs, parameters and outputs, with and without a GPU."""
AT_ONCE = 4
"""Sizes tried side by side on a GPU, where starting two processes takes longer than a small problem."""
SHARE_S = 0.25
"""Of the candidate's time, for each size."""


def held_out(problem: Problem, source: str, device: Device, policy: Policy, seconds: float) -> tuple[HeldOut, ...]:
    """How the candidate does at other sizes: small ragged ones, primes, a leading one, and on a GPU a larger one."""

    def tried(plan: tuple[str, Constants]) -> HeldOut:
        return _tried(problem, source, device, policy, seconds, *plan)

    with ThreadPoolExecutor(AT_ONCE if device.present else 1) as pool:
        return tuple(pool.map(as_here(tried), _plans(problem, device)))


def _tried(
    problem: Problem, source: str, device: Device, policy: Policy, seconds: float, why: str, sizes: Constants
) -> HeldOut:
    sized = rewrite(problem.source, sizes)
    if not _runs(sized, why, device):
        return HeldOut(sizes=sizes, why=why, status=None)
    try:
        candidate = resized(source, problem.source, sizes)
        once_more(lambda: _run(sized, candidate, device, policy, seconds))
        return HeldOut(sizes=sizes, why=why, status=Status.OK)
    except CandidateError as error:
        return HeldOut(sizes=sizes, why=why, status=error.status, feedback=error.feedback)


def _run(problem: str, source: str, device: Device, policy: Policy, seconds: float) -> None:
    with Trial(problem, source, device, policy, SHARE_S * seconds, traits=False) as trial:
        trial.run([] if trial.random else [Step("own", "own"), Step("normal", "normal")])


def _plans(problem: Problem, device: Device) -> Iterator[tuple[str, Constants]]:
    """Why, and the constants to write; every other constant stays as it is in the small problem."""
    full = constants(problem.source)
    small = problem.small_constants or full  # it has none of its own if it is small as it is
    if not small:
        return
    if device.present and small != full:
        yield "ragged", small
    own = [name for name in small if not name.startswith("=")] or list(small)
    ordered = sorted(own, key=lambda name: small[name])
    yield "prime", {**small, **dict(zip(ordered, PRIMES, strict=False))}
    yield "one", {**small, own[0]: 1}
    if device.present:
        yield "larger", {own[0]: GROWTH * full[own[0]] + 1}
    else:
        yield "larger", {**small, own[0]: GROWTH * small[own[0]] + 1}


def _runs(source: str, why: str, device: Device) -> bool:
    """Whether the reference itself takes these sizes, and they fit."""
    asked = {"source": source, "run": not device.present, "most": MOST_BYTES[device.present]}
    try:
        return bool(run("egg.tools.tasks.fits:measure", asked, Bounds(seconds=60)).require(why)["runs"])
    except (MachineError, UserError):
        return False
