# egg: {"policy":"stock","structure":"scaled_fp16","regions":[{"name":"r0_linear","kind":"gemm","structure":{"name":"scaled_fp16","method":"fp16x3"},"mapping":{"GROUP_M":8},"tiling":{"BLOCK_M":128,"BLOCK_N":128,"BLOCK_K":64,"num_warps":8,"SPLIT_C":2048},"memory":{"num_stages":3,"loads":"tma"},"facts":{"batch":1,"m":4096,"n":4096,"k":4096,"item_bytes":4,"dtype":"float32","batched":false,"b_along_k":true,"int8":false}}]} 4164e00ab6d7
"""Triton kernels for the module below; `ModelNew` takes and returns what the original does."""

import torch
import triton
import triton.language as tl
import torch.nn as nn


@triton.jit
def gelu_f32(x):
    return 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))


from triton.tools.tensor_descriptor import TensorDescriptor


R0_LINEAR_META = dict(BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, GROUP_M=8, num_warps=8, num_stages=3)
R0_LINEAR_SPLIT = dict(BLOCK_R=1, BLOCK_C=2048, num_warps=8)
R0_LINEAR_SPLIT_TRANSPOSED = dict(BLOCK_R=16, BLOCK_C=256, num_warps=8)


@triton.jit
def r0_linear_tile(pid, tiles_m, tiles_n, GROUP_M: tl.constexpr):
    """Program -> tile: groups of GROUP_M rows of tiles, each walked column by column, so that L2 serves b again."""
    group = pid // (GROUP_M * tiles_n)
    rows = tl.minimum(tiles_m - group * GROUP_M, GROUP_M)
    inside = pid % (GROUP_M * tiles_n)
    return group * GROUP_M + inside % rows, inside // rows


@triton.jit
def r0_linear_split(
    x_ptr, high_ptr, low_ptr, scale_ptr, ROWS, K, K_PAD, x_row, x_k,
    BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr,
):
    """Rows of x as high + low in fp16 times a power of two a row; columns past K are zero."""
    rows = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    row_ok = rows < ROWS
    x_at = x_ptr + rows.to(tl.int64)[:, None] * x_row
    largest = tl.zeros((BLOCK_R,), tl.float32)
    for k in range(0, K, BLOCK_C):
        ks = (k + tl.arange(0, BLOCK_C))[None, :]
        x = tl.load(x_at + ks * x_k, mask=row_ok[:, None] & (ks < K), other=0.0).to(tl.float32)
        largest = tl.maximum(largest, tl.max(tl.abs(x), 1))
    # Exponent bits only, so scaling is exact. The maximum comes to lie in [2^14, 2^15): far from fp16's subnormals.
    exponent = tl.minimum(tl.maximum(largest.to(tl.int32, bitcast=True) >> 23, 15), 254)
    up = ((268 - exponent) << 23).to(tl.float32, bitcast=True)
    tl.store(scale_ptr + rows, ((exponent - 14) << 23).to(tl.float32, bitcast=True), mask=row_ok)
    at = rows.to(tl.int64)[:, None] * K_PAD
    for k in range(0, K_PAD, BLOCK_C):
        ks = (k + tl.arange(0, BLOCK_C))[None, :]
        x = tl.load(x_at + ks * x_k, mask=row_ok[:, None] & (ks < K), other=0.0).to(tl.float32) * up[:, None]
        high = x.to(tl.float16)
        tl.store(high_ptr + at + ks, high, mask=row_ok[:, None] & (ks < K_PAD))
        tl.store(low_ptr + at + ks, (x - high.to(tl.float32)).to(tl.float16), mask=row_ok[:, None] & (ks < K_PAD))


@triton.jit
def r0_linear_product(
    a_high_tma, a_low_tma, b_high_tma, b_low_tma, a_scale_ptr, b_scale_ptr, linear_bias_ptr, out_ptr, M, N, K_PAD,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):
    """One tile of a @ b.T from scaled fp16 halves (low @ low lies below fp32's last bit), then bias, gelu."""
    tiles_m, tiles_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    tile_m, tile_n = r0_linear_tile(tl.program_id(0) % (tiles_m * tiles_n), tiles_m, tiles_n, GROUP_M)
    row_in, col_in = tl.arange(0, BLOCK_M), tl.arange(0, BLOCK_N)
    cols = tile_n * BLOCK_N + col_in
    row_ok, col_ok = tile_m * BLOCK_M + row_in < M, cols < N
    a_row, b_row = tile_m * BLOCK_M, tile_n * BLOCK_N
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, K_PAD, BLOCK_K):
        a_high, b_high = a_high_tma.load([a_row, k]), b_high_tma.load([b_row, k]).T
        a_low, b_low = a_low_tma.load([a_row, k]), b_low_tma.load([b_row, k]).T
        # Small products first; then the chain ends and is added in fp32.
        part = tl.dot(a_low, b_high)
        part = tl.dot(a_high, b_low, part)
        acc += tl.dot(a_high, b_high, part)
    acc *= tl.load(a_scale_ptr + a_row + row_in, mask=row_ok, other=0.0)[:, None]
    acc *= tl.load(b_scale_ptr + b_row + col_in, mask=col_ok, other=0.0)[None, :]
    first_row = a_row.to(tl.int64)
    inside, at = row_ok[:, None] & col_ok[None, :], row_in[:, None] * N + cols[None, :]
    acc += tl.load(linear_bias_ptr + cols, mask=col_ok, other=0)[None, :]
    v_gelu = gelu_f32(acc)
    tl.store(out_ptr + first_row * N + at, v_gelu, mask=inside)


def r0_linear_halves(x):
    """The rows of x in scaled fp16, K padded with zeros to whole blocks, and the factor that undoes each row's scale."""
    rows, depth = x.numel() // x.shape[-1], x.shape[-1]
    padded = triton.cdiv(depth, R0_LINEAR_META["BLOCK_K"]) * R0_LINEAR_META["BLOCK_K"]
    high = torch.empty((rows, padded), dtype=torch.float16, device=x.device)
    low = torch.empty_like(high)
    scale = torch.empty((rows,), dtype=torch.float32, device=x.device)
    split = R0_LINEAR_SPLIT if x.stride(-1) == 1 else R0_LINEAR_SPLIT_TRANSPOSED
    r0_linear_split[(triton.cdiv(rows, split["BLOCK_R"]),)](
        x, high, low, scale, rows, depth, padded, *x.stride(), **split
    )
    return high, low, scale


def r0_linear(x, linear_weight, linear_bias):
    """(4096, 4096) @ (4096, 4096) at full size, then bias, gelu; products by fp16x3."""
    lhs = x
    rhs = linear_weight.t()
    rows, cols = lhs.shape[-2], rhs.shape[-1]
    out = torch.empty((*x.shape[:-1], rhs.shape[1]), dtype=torch.float32, device=lhs.device)
    meta = R0_LINEAR_META
    a_high, a_low, a_scale = r0_linear_halves(lhs)
    b_high, b_low, b_scale = r0_linear_halves(rhs.mT)
    a_block, b_block = [meta["BLOCK_M"], meta["BLOCK_K"]], [meta["BLOCK_N"], meta["BLOCK_K"]]
    tiles = triton.cdiv(rows, meta["BLOCK_M"]) * triton.cdiv(cols, meta["BLOCK_N"])
    r0_linear_product[(tiles,)](
        TensorDescriptor.from_tensor(a_high, a_block),
        TensorDescriptor.from_tensor(a_low, a_block),
        TensorDescriptor.from_tensor(b_high, b_block),
        TensorDescriptor.from_tensor(b_low, b_block),
        a_scale, b_scale, linear_bias, out, rows, cols, a_high.shape[1], **meta,
    )
    return out


class ModelNew(nn.Module):

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x: torch.Tensor):
        gelu = r0_linear(x, self.linear.weight, self.linear.bias)
        return gelu
