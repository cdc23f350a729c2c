"""Problems for measuring the judge itself: as little work as a verdict can have, and many launches of little work."""

from pathlib import Path
from tempfile import TemporaryDirectory

from egg.state.problem import Problem
from egg.tools.problem import load_problem

ADD = '''"""A scaled addition, small enough that everything but the judge's own work takes no time."""

import torch
import torch.nn as nn

ROWS = 512
COLS = 1024


class Model(nn.Module):
    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale = scale
        self.bias = nn.Parameter(torch.randn(COLS))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.relu(x * self.scale + y) + self.bias


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(ROWS, COLS), torch.rand(ROWS, COLS)]


def get_init_inputs() -> list[float]:
    return [1.5]
'''
ADD_KERNEL = """import torch
import torch.nn as nn
import triton
import triton.language as tl

COLS = 1024


@triton.jit
def scaled_add(x_ptr, y_ptr, bias_ptr, out_ptr, n, cols, scale, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    y = tl.load(y_ptr + at, mask=inside, other=0.0)
    bias = tl.load(bias_ptr + at % cols, mask=inside, other=0.0)
    tl.store(out_ptr + at, tl.maximum(x * scale + y, 0.0) + bias, mask=inside)


class ModelNew(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale
        self.bias = nn.Parameter(torch.randn(COLS))

    def forward(self, x, y):
        x, y = x.contiguous(), y.contiguous()
        out = torch.empty_like(x)
        n = out.numel()
        scaled_add[(triton.cdiv(n, 1024),)](x, y, self.bias, out, n, x.shape[-1], self.scale, BLOCK=1024)
        return out
"""
CHAIN = '''"""A chain of small operators: launching them takes longer than running them."""

import torch
import torch.nn as nn

SIZE = 256
LINKS = 24


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(LINKS):
            x = torch.sin(x) * 1.5
        return x


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(SIZE, SIZE)]


def get_init_inputs() -> list[int]:
    return []
'''


def load(name: str, source: str) -> Problem:
    """A problem from its text."""
    with TemporaryDirectory() as folder:
        path = Path(folder, f"{name}.py")
        path.write_text(source)
        return load_problem(str(path))


def add_kernel(number: int) -> str:
    """The kernel for `ADD`: for each number another source, to be compiled and judged anew."""
    return f"{ADD_KERNEL}\n# {number}\n"
