"""Kernels whose numbers may be chosen, and a problem for them."""

from hashlib import sha256

from egg.state.problem import Problem, TensorSpec, Workload

SOURCE = """
import torch

rows, columns = 1024, 512


class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
"""
PROBLEM = Problem(name="double", path="-", source=SOURCE, digest=sha256(SOURCE.encode()).hexdigest())
TENSOR = TensorSpec(shape=(1024, 512), dtype="float32")
WORKLOAD = Workload(
    inputs=(TENSOR,),
    outputs=(TENSOR,),
    parameters=0,
    flops=1024 * 512,
    matmul_flops=0,
    min_bytes=8 * 1024 * 512,
    regions=(),
    structures=(),
)
HEAD = """import torch
import triton
import triton.language as tl

"""
KERNEL = """
@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)
"""
MODEL = """

class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        double[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel(), LAUNCH)
        return y
"""
PLAIN = HEAD + "BLOCK = 128\nMETA = dict(num_warps=4)\n" + KERNEL + MODEL.replace("LAUNCH", "BLOCK=BLOCK, **META")
CONFIGS = """CONFIGS = [
    triton.Config({"BLOCK": 128}, num_warps=4),
    triton.Config({"BLOCK": 1024}, num_warps=4),
]
"""
TUNING = '\n@triton.autotune(configs=CONFIGS, key=["n"])' + KERNEL
AUTOTUNED = HEAD + CONFIGS + TUNING + MODEL.replace(", LAUNCH", "")
