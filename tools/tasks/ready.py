"""For child tasks that only look at a forward pass: the candidate, set up and warm, on one set of inputs."""

from collections.abc import Callable
from typing import Any

import torch

from egg.tools.tasks.launches import Launches
from egg.tools.tasks.module import build_model, load_module, make_inputs, set_policy, share_weights

WARM_CALLS = 3


def ready(payload: dict[str, Any], device: str) -> tuple[Callable[[], Any], Launches]:
    """What makes one forward pass, and what sees its launches.

    Args:
        payload: `problem`, `source`, `policy`, `seed`.
        device: `cuda`, or `cpu` for the interpreter.

    Raises:
        Whatever the candidate raises.
    """
    set_policy(payload["policy"])
    problem = load_module(payload["problem"], "problem")
    inputs = make_inputs(problem, payload["seed"], device)
    weights = build_model(problem.Model, problem, payload["seed"], device).state_dict()
    launches = Launches()
    model = build_model(load_module(payload["source"], "candidate").ModelNew, problem, payload["seed"], device)
    share_weights(model, weights)
    del weights

    def call() -> Any:
        with torch.no_grad():
            return model(*inputs)

    for _ in range(WARM_CALLS):  # autotuning, compiling and lazy set-up are over then
        call()
    if device == "cuda":
        torch.cuda.synchronize()
    return call, launches
