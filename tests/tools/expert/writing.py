"""What every test of written kernels does: write one, and see how far it is from its problem in the interpreter."""

from egg.state.problem import Problem
from egg.state.settings import Policy
from egg.tools.expert import Skeleton, write_kernel
from egg.tools.sandbox.client import run
from egg.tools.store import Store
from tests.tools.expert.problems import DEVICE


def written(problem: Problem, store: Store, policy: Policy = Policy.STOCK, **choice: object) -> Skeleton:
    """A kernel for an H200."""
    return write_kernel(problem, policy=policy, device=DEVICE, store=store, **choice)  # type: ignore[arg-type]


def error(problem: Problem, skeleton: Skeleton) -> float:
    """Largest relative RMS difference of any result at the small size."""
    payload = {"problem": problem.small_source, "kernel": skeleton.source}
    value = run("tests.tools.expert.interpreted:compare", payload, interpret=True).require("compare")["error"]
    assert isinstance(value, float)
    return value
