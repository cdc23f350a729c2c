"""Child task: does a problem's reference run at these sizes, and do its tensors fit?"""

from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from egg.tools.tasks.memory import tensors_of
from egg.tools.tasks.module import build_model, load_module, make_inputs


def measure(payload: dict[str, Any]) -> dict[str, Any]:
    """`runs`: whether it takes these sizes, with at most `most` bytes; nothing is computed unless `run`."""
    try:
        with torch.no_grad(), FakeTensorMode():
            used = _forward(payload["source"])
        if payload["run"] and used <= payload["most"]:
            with torch.no_grad():
                _forward(payload["source"])
    except Exception as error:  # whatever the problem's own code says to sizes it was not written for
        return {"runs": False, "why": str(error)[:200]}
    return {"runs": used <= payload["most"], "why": f"{used} bytes"}


def _forward(source: str) -> int:
    module = load_module(source, "held_out")
    model = build_model(module.Model, module, 0, "cpu")
    inputs = make_inputs(module, 0, "cpu")
    tensors = [*tensors_of(inputs), *model.state_dict().values(), *tensors_of([model(*inputs)])]
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)
