"""What the first export loads late. Imported in the warm parent, as tasks are, it spares every child seconds."""

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.flop_counter import FlopCounterMode

from egg.tools.expert.kinds import kinds


class _Toy(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x @ x, -1)


with torch.no_grad(), FakeTensorMode() as _fake:
    _program = torch.export.export(_Toy(), (torch.ones(2, 2),))
    with FlopCounterMode(display=False):
        torch.ones(2, 2) @ torch.ones(2, 2)
kinds()
