"""Run in children, which alone load PyTorch."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from egg.tools.tasks.launches import Launches
from egg.tools.tasks.module import load_module
from egg.tools.tasks.replay import replay


def replayed(payload: dict[str, Any]) -> dict[str, Any]:
    """A candidate's replay, on inputs of both signs."""
    launches = Launches()
    model = load_module(payload["source"], "candidate").ModelNew()
    inputs, others = ([torch.randn(9, 9), torch.randn(9, 9)] for _ in range(2))

    def call(within: AbstractContextManager[Any]) -> Any:
        with within:
            return model(*inputs)

    with torch.no_grad():
        honest = [leaf.clone() for leaf in tree_leaves(call(nullcontext()))]
        model(*others)
        return replay(call, honest, launches)
