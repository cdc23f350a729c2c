"""Child task: does a problem's reference run at these sizes, and how much memory does it take?"""

from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from egg.tools.tasks.memory import tensors_of
from egg.tools.tasks.module import build_model, load_module, make_inputs


def measure(payload: dict[str, Any]) -> dict[str, Any]:
    """`runs`, and `bytes` of inputs, parameters and outputs; nothing is computed unless `run`."""
    try:
        with torch.no_grad(), FakeTensorMode():
            used = _forward(payload["source"])
        if payload["run"]:
            with torch.no_grad():
                _forward(payload["source"])
    except Exception as error:  # whatever the problem's own code says to sizes it was not written for
        return {"runs": False, "bytes": 0, "why": str(error)[:200]}
    return {"runs": True, "bytes": used}


def _forward(source: str) -> int:
    module = load_module(source, "held_out")
    model = build_model(module.Model, module, 0, "cpu")
    inputs = make_inputs(module, 0, "cpu")
    tensors = [*tensors_of(inputs), *model.state_dict().values(), *tensors_of([model(*inputs)])]
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)
