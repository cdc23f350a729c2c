"""Whether counters can be read here at all, tried on a kernel of our own that is treated like anybody's."""

from hashlib import sha256

from egg.state.device import Device
from egg.state.errors import MachineError, UserError
from egg.state.problem import Problem
from egg.state.settings import Policy
from egg.tools.counters.collect import collect
from egg.tools.exclusive import exclusive

PROBLEM = """
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return (2 * x).relu()


def get_inputs():
    return [torch.randn(4096, 4096)]
"""

KERNEL = """
import torch
import triton
import triton.language as tl


@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        double[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
        return torch.relu(y)
"""
PATIENCE_S = 60.0


def trial() -> Problem:
    """What `KERNEL` computes: one launch of its own and one of PyTorch's."""
    return Problem(name="trial", path="-", source=PROBLEM, digest=sha256(PROBLEM.encode()).hexdigest())


def uncounted(device: Device) -> str:
    """Why counters cannot be read on this GPU, in one line; empty if they can."""
    try:
        with exclusive(device, PATIENCE_S):
            return collect(trial(), KERNEL, device, Policy.STOCK).why
    except (MachineError, UserError) as error:
        return str(error)
