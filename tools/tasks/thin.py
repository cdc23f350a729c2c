"""For the analysis: a problem at its own sizes but for the batch, so that running it is cheap and its scale is kept."""

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.flop_counter import FlopCounterMode

from egg.tools.shrink import constants, rewrite
from egg.tools.tasks.memory import tensors_of
from egg.tools.tasks.module import build_model, load_module, make_inputs

BATCH = 4
MOST_ELEMENTS, MOST_WEIGHTS = 1 << 24, 1 << 26
MOST_FLOPS = 1e10
"""A second or two on a processor."""


def thin(source: str) -> str | None:
    """The source with its inputs' first dimension made 4, if a constant says it; None if even that takes too long."""
    try:
        text = _with_batch(source)
        return text if _cheap(text) else None
    except Exception:  # it is the problem's own code that fails on tensors without data
        return None


def _with_batch(source: str) -> str:
    module = load_module(source, "full")
    with FakeTensorMode():
        firsts = {tensor.shape[0] for tensor in tensors_of(make_inputs(module, 0, "cpu")) if tensor.dim() > 1}
    batches = {name: BATCH for name, value in constants(source).items() if value in firsts and len(firsts) == 1}
    # Two constants of one value may mean different things; only one of them can be the batch.
    return rewrite(source, batches) if len(batches) == 1 else source


def _cheap(source: str) -> bool:
    module = load_module(source, "thin")
    with torch.no_grad(), FakeTensorMode(), FlopCounterMode(display=False) as counter:
        model = build_model(module.Model, module, 0, "cpu")
        inputs = make_inputs(module, 0, "cpu")
        outputs = model(*inputs)
    elements = sum(tensor.numel() for tensor in (*tensors_of(inputs), *tensors_of(outputs)))
    weights = sum(tensor.numel() for tensor in model.state_dict().values())
    few = elements <= MOST_ELEMENTS and weights <= MOST_WEIGHTS
    return bool(few and counter.get_total_flops() <= MOST_FLOPS)
