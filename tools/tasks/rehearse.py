"""Worker task: what a forward pass does on tensors without data, with every launch noted and none compiled."""

from typing import Any

import torch
from triton.runtime.jit import JITFunction

from egg.tools.tasks.faults import explain
from egg.tools.tasks.interpreter import tune_nothing
from egg.tools.tasks.launches import launch_arguments
from egg.tools.tasks.module import load_module, make_inputs, set_policy
from egg.tools.tasks.noted import Noted, watch_launches
from egg.tools.tasks.record import NotCuda, without_data

Json = dict[str, Any]
PASSES = 2
"""The first may make what later ones find."""


def rehearse(payload: Json) -> Json:
    """Notes of two forward passes, as `noted.Noted` takes them where a candidate is judged.

    Args:
        payload: `problem` and `source` (texts, of the size that is judged), `policy`.

    Raises:
        CandidateError: whatever the candidate raised, with the line of its source.
    """
    noted = Noted()
    set_policy(payload["policy"])
    problem = load_module(payload["problem"], "problem")
    inputs = make_inputs(problem, 0, "meta")
    watch_launches(noted, JITFunction, _only_the_grid)
    tune_nothing()  # as in the interpreter
    passes = []
    try:
        model = without_data(load_module(payload["source"], "candidate").ModelNew, problem)
        for _ in range(PASSES):
            with torch.no_grad(), NotCuda(), noted.forward():
                model(*inputs)
            passes.append(sorted(noted.done))
    except Exception as error:
        raise explain(error, payload["source"]) from error
    return {"passes": passes}


def _only_the_grid(kernel: Any, args: Any, kwargs: Any, grid: Any) -> None:
    if callable(grid):
        grid(launch_arguments(kernel.fn, args, kwargs))
