"""For the analysis: a problem at its own sizes but for the batch, so that running it is cheap and its scale is kept."""

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.flop_counter import FlopCounterMode

from egg.tools.shrink import constants, rewrite
from egg.tools.tasks.memory import tensors_of
from egg.tools.tasks.module import build_model, load_module, make_inputs

BATCH = 2
MOST_ELEMENTS = 1 << 24
MOST_FLOPS = 2e10
"""About a second on a processor."""


def thin(source: str) -> str | None:
    """The source with its inputs' first dimension made 2, if a constant says it; None if even that takes too long."""
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
    elements = sum(t.numel() for t in (*tensors_of(inputs), *model.state_dict().values(), *tensors_of(outputs)))
    return bool(elements <= MOST_ELEMENTS and counter.get_total_flops() <= MOST_FLOPS)
