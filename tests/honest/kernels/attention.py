"""Views, transposes and chunks that are never copied; online softmax; a product before it."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def product(x_ptr, w_ptr, b_ptr, out_ptr, M, N, K, sm, sk, wk, wn, GELU: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, BLOCK):
        k = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row[:, None] * sm + k[None, :] * sk, mask=(row < M)[:, None] & (k < K)[None, :], other=0.0)
        w = tl.load(w_ptr + k[:, None] * wk + col[None, :] * wn, mask=(k < K)[:, None] & (col < N)[None, :], other=0.0)
        total += tl.dot(x, w, input_precision="ieee")
    total += tl.load(b_ptr + col, mask=col < N, other=0.0)[None, :]
    if GELU:
        total = 0.5 * total * (1.0 + tl.erf(total * 0.7071067811865476))
    inside = (row < M)[:, None] & (col < N)[None, :]
    tl.store(out_ptr + row[:, None] * N + col[None, :], total.to(out_ptr.dtype.element_ty), mask=inside)


def linear(x, weight, bias, gelu=False):
    (rows, inner), cols = x.shape, weight.shape[0]
    out = torch.empty(rows, cols, device=x.device, dtype=x.dtype)
    grid = (triton.cdiv(rows, 32), triton.cdiv(cols, 32))
    product[grid](
        x, weight, bias, out, rows, cols, inner, *x.stride(), weight.stride(1), weight.stride(0), GELU=gelu, BLOCK=32
    )
    return out


@triton.jit
def attend(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    length,
    heads,
    size,
    scale,
    sb,
    sl,
    sh,
    ob,
    ol,
    oh,
    BLOCK: tl.constexpr,
    D: tl.constexpr,
):
    batch, head = tl.program_id(1) // heads, tl.program_id(1) % heads
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    base = batch * sb + head * sh
    q_in = (row < length)[:, None] & (d < size)[None, :]
    q = tl.load(q_ptr + base + row[:, None] * sl + d[None, :], mask=q_in, other=0.0)
    most = tl.full((BLOCK,), -1e30, tl.float32)
    norm = tl.zeros((BLOCK,), tl.float32)
    total = tl.zeros((BLOCK, D), tl.float32)
    for start in range(0, (tl.program_id(0) + 1) * BLOCK, BLOCK):
        col = start + tl.arange(0, BLOCK)
        k_in = (col < length)[:, None] & (d < size)[None, :]
        k = tl.load(k_ptr + base + col[:, None] * sl + d[None, :], mask=k_in, other=0.0)
        v = tl.load(v_ptr + base + col[:, None] * sl + d[None, :], mask=k_in, other=0.0)
        score = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        score = tl.where((row[:, None] >= col[None, :]) & (col < length)[None, :], score, -1e30)
        new = tl.maximum(most, tl.max(score, axis=1))
        p = tl.exp(score - new[:, None])
        fade = tl.exp(most - new)
        norm = norm * fade + tl.sum(p, axis=1)
        total = total * fade[:, None] + tl.dot(p, v, input_precision="ieee")
        most = new
    place = out_ptr + batch * ob + head * oh + row[:, None] * ol + d[None, :]
    tl.store(place, total / norm[:, None], mask=q_in)


class ModelNew(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(width, 3 * width)

    def forward(self, x):
        batch, length, width = x.shape
        flat = linear(x.view(-1, width), self.project.weight, self.project.bias).view(batch, length, 3 * width)
        q, k, v = (t.view(batch, length, self.heads, -1).transpose(1, 2) for t in flat.chunk(3, dim=-1))
        out = torch.empty(batch, length, self.heads, q.shape[-1], device=x.device).transpose(1, 2)
        size = q.shape[-1]
        grid = (triton.cdiv(length, 32), batch * self.heads)
        strides = (q.stride(0), q.stride(2), q.stride(1), out.stride(0), out.stride(2), out.stride(1))
        d = max(16, triton.next_power_of_2(size))
        attend[grid](q, k, v, out, length, self.heads, size, size**-0.5, *strides, BLOCK=32, D=d)
        return out.transpose(1, 2).reshape(batch, length, width)
