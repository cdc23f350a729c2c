"""A problem, and a candidate whose every kernel was built to have one bottleneck on an H200."""

from hashlib import sha256

from egg.state.bottleneck import BottleneckKind as K
from egg.state.problem import Problem

SOURCE = """
import torch


class Model(torch.nn.Module):
    def forward(self, x, chain):
        return x


def get_inputs():
    return [torch.randn(8192, 8192), torch.randperm(1 << 24).int()]


def get_init_inputs():
    return []
"""

PRODUCT = """
@triton.jit
def NAME(x, y, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PRECISION: tl.constexpr):
    rows, columns = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        inner = k + tl.arange(0, BK)
        left = tl.load(x + rows[:, None] * K + inner[None, :])
        right = tl.load(x + columns[None, :] * K + inner[:, None])
        total = tl.dot(left, right, total, input_precision=PRECISION)
    tl.store(y + rows[:, None] * K + columns[None, :], total)


"""

KERNELS = """
import torch
import triton
import triton.language as tl


@triton.jit
def copied(x, y, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at) + 1.0)


@triton.jit
def tiny(x, y, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at) + 1.0)


@triton.jit
def spilling(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0) * n
    at = row + tl.arange(0, BLOCK)
    values = tl.load(x + at)
    largest = tl.max(values, 0)
    powers = tl.exp(values - largest)
    tl.store(y + at, powers / tl.sum(powers, 0) + values)


@triton.jit
def summed(x, y, steps, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for step in range(steps):
        total += tl.load(x + (tl.program_id(0) * steps + step) * BLOCK + tl.arange(0, BLOCK))
    tl.store(y + tl.program_id(0), tl.sum(total, 0))


@triton.jit
def uneven(x, y, steps, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at)
    for step in range(steps):
        value = value * 1.0001 + 0.5
    tl.store(y + at, value)


@triton.jit
def computing(x, y, steps, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at)
    for step in range(steps):
        value = value * 1.0001 + 0.5
    tl.store(y + at, value)


@triton.jit
def rereading(x, y, BLOCKS: tl.constexpr, BLOCK: tl.constexpr):
    block = x + (tl.program_id(0) & (BLOCKS - 1)) * BLOCK
    tl.store(y + tl.program_id(0), tl.sum(tl.load(block + tl.arange(0, BLOCK)), 0))


@triton.jit
def chasing(chain, y, steps):
    where = tl.program_id(0)
    for step in range(steps):
        where = tl.load(chain + where)
    tl.store(y + tl.program_id(0), where.to(tl.float32))


@triton.jit
def crowded(x, chain, y, steps, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    kept = tl.load(x + at)
    where = tl.program_id(0)
    for step in range(steps):
        where = tl.load(chain + where)
    tl.store(y + at, kept + where)


"""

MODEL = """
class ModelNew(torch.nn.Module):
    def forward(self, x, chain):
        y = torch.empty_like(x)
        copied[(65536,)](x, y, BLOCK=1024)
        tiny[(4,)](x, y, BLOCK=256)
        spilling[(4096,)](x, y, 16384, BLOCK=16384, num_warps=1)
        summed[(20,)](x, y, 3276, BLOCK=1024)
        uneven[(300,)](x, y, 4000, BLOCK=4096, num_warps=32)
        rereading[(65536,)](x, y, BLOCKS=256, BLOCK=8192, num_warps=8)
        chasing[(1056,)](chain, y, 512, num_warps=1)
        crowded[(1584,)](x, chain, y, 64, BLOCK=4096, num_warps=1)
        computing[(33792,)](x, y, 2000, BLOCK=1024)
        sharing[(128, 128)](x, y, 8192, BM=64, BN=64, BK=16, PRECISION="ieee")
        starving[(32, 64)](x, y, 8192, BM=256, BN=128, BK=32, PRECISION="tf32", num_warps=8, num_stages=1)
        return y
"""

CANDIDATE = KERNELS + PRODUCT.replace("NAME", "sharing") + PRODUCT.replace("NAME", "starving") + MODEL

BUILT = {
    "copied": K.MEMORY_BANDWIDTH,
    "tiny": K.LAUNCH_BOUND,
    "spilling": K.SPILLS,
    "summed": K.TOO_FEW_PROGRAMS,
    "uneven": K.IMBALANCE,
    "computing": K.COMPUTE,
    "sharing": K.L1,
    "rereading": K.L2,
    "chasing": K.MEMORY_LATENCY,
    "starving": K.TENSOR_PIPE_STARVED,
    "crowded": K.OCCUPANCY,
}
"""What each was built to be bound by."""
COUNTED = ("sharing",)
"""Those that only counters show."""


def problem() -> Problem:
    """Two inputs: a square of floats, and a permutation to be followed."""
    return Problem(name="bottlenecked", path="-", source=SOURCE, digest=sha256(SOURCE.encode()).hexdigest())
