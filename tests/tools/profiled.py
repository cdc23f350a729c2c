"""A problem and candidates for the tests of compiling and timing."""

from hashlib import sha256

from egg.state.problem import Problem

SOURCE = """
import torch

rows, columns = 1024, 512


class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = torch.nn.Linear(width, width)

    def forward(self, x):
        return torch.relu(self.fc(x))


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return [columns]
"""

HEAD = "import torch, triton\nimport triton.language as tl\n\n"

SCALE = """
@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n)
    tl.store(y + at, v * 2, mask=at < n)
"""

PRODUCT = """
@triton.autotune([triton.Config({"BM": 64}, num_warps=4), triton.Config({"BM": 128}, num_warps=8)], key=["K"])
@triton.heuristics({"EVEN": lambda given: given["K"] % 32 == 0})
@triton.jit
def product(x, w, y, N, K, BM: tl.constexpr, EVEN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * 64 + tl.arange(0, 64)
    acc = tl.zeros((BM, 64), tl.float32)
    for k in range(0, K, 32):
        inner = k + tl.arange(0, 32)
        left = tl.load(x + rows[:, None] * K + inner[None, :])
        right = tl.load(w + columns[None, :] * K + inner[:, None])
        acc = tl.dot(left, right, acc, input_precision="tf32")
    tl.store(y + rows[:, None] * N + columns[None, :], acc)
"""

DESCRIBED = """
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def tiles(x, y, count, STEP: tl.constexpr):
    for tile in range(tl.program_id(0), count, STEP):
        y.store([tile * 16, 0], x.load([tile * 16, 0]))
"""


def problem() -> Problem:
    """A linear layer and a ReLU."""
    return Problem(name="linear_relu", path="-", source=SOURCE, digest=sha256(SOURCE.encode()).hexdigest())


def candidate(kernels: str, forward: str, init: str = "self.fc = torch.nn.Linear(width, width)") -> str:
    """A source with these kernels and a `ModelNew` with this forward body."""
    body = "\n".join(f"        {line}" for line in forward.strip().splitlines())
    return f"""{HEAD}{kernels}

class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        {init}

    def forward(self, x):
{body}
"""


DOUBLING = candidate(
    SCALE, "y = torch.empty_like(x)\ndouble[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)\nreturn y"
)
