"""What guides on structure claim to be equal, in float64: both sides of each claim."""

from collections.abc import Callable

import torch
from torch.nn import functional

Sides = tuple[torch.Tensor, torch.Tensor]
CLAIMS: dict[str, Callable[[], Sides]] = {}


def claim(topic: str) -> Callable[[Callable[[], Sides]], Callable[[], Sides]]:
    def keep(sides: Callable[[], Sides]) -> Callable[[], Sides]:
        CLAIMS[topic] = sides
        return sides

    return keep


def some(*size: int) -> torch.Tensor:
    return torch.randn(*size, dtype=torch.float64, generator=torch.Generator().manual_seed(sum(size)))


@claim("collapse-products")
def collapsed() -> Sides:
    x, weight, bias = some(8, 32), some(64, 32), some(64)
    return functional.linear(x, weight, bias).mean(1), x @ weight.mean(0) + bias.mean()


@claim("recurrent-hoist")
def hoisted() -> Sides:
    cell, x = torch.nn.GRU(8, 16, batch_first=True).double(), some(4, 5, 8)
    ahead = functional.linear(x, cell.weight_ih_l0, cell.bias_ih_l0)
    h, out = torch.zeros(4, 16, dtype=torch.float64), []
    for t in range(5):
        r, z, n = ahead[:, t].chunk(3, 1)
        hr, hz, hn = functional.linear(h, cell.weight_hh_l0, cell.bias_hh_l0).chunk(3, 1)
        gate = torch.sigmoid(z + hz)
        h = (1 - gate) * torch.tanh(n + torch.sigmoid(r + hr) * hn) + gate * h
        out.append(h)
    return torch.stack(out, 1), cell(x)[0]


@claim("batch-norm-fold")
def folded() -> Sides:
    conv, norm = torch.nn.Conv2d(3, 8, 3).double(), torch.nn.BatchNorm2d(8).double()
    for values in (norm.running_mean, norm.running_var, norm.weight.data, norm.bias.data):
        values.uniform_(0.5, 2)
    scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    x = some(2, 3, 9, 9)
    after = functional.conv2d(x, conv.weight) * scale[:, None, None]
    shift = norm.bias + (conv.bias - norm.running_mean) * scale
    return norm.eval()(conv(x)), after + shift[:, None, None]


@claim("conv-implicit-product")
def implicit() -> Sides:
    x, weight = some(2, 3, 8, 8), some(5, 3, 3, 3)
    last = x.permute(0, 2, 3, 1)  # NHWC: a tap is a shifted view
    total = sum(last[:, i : i + 6, j : j + 6] @ weight[:, :, i, j].t() for i in range(3) for j in range(3))
    return functional.conv2d(x, weight), torch.as_tensor(total).permute(0, 3, 1, 2)


@claim("conv-transposed-gather")
def transposed() -> Sides:
    x, weight, stride, pad = some(1, 2, 5), some(2, 3, 4), 2, 1
    size = (5 - 1) * stride - 2 * pad + 4
    out = torch.zeros(1, 3, size, dtype=torch.float64)
    for o in range(size):
        for k in range(4):
            i, rest = divmod(o + pad - k, stride)
            if rest == 0 and 0 <= i < 5:
                out[:, :, o] += x[:, :, i] @ weight[:, :, k]
    return functional.conv_transpose1d(x, weight, stride=stride, padding=pad), out


@claim("attention-split-keys")
def split_keys() -> Sides:
    q, k, v = some(1, 8), some(32, 8), some(32, 8)
    parts = []
    for low in (0, 16):
        scores = q @ k[low : low + 16].t() / 8**0.5
        top = scores.amax(1)
        power = torch.exp(scores - top[:, None])
        parts.append((top, power.sum(1), power @ v[low : low + 16]))
    top = torch.stack([t for t, _, _ in parts]).amax(0)
    weights = [torch.exp(t - top) for t, _, _ in parts]
    below = torch.stack([w * s for w, (_, s, _) in zip(weights, parts, strict=True)]).sum(0)
    above = torch.stack([w[:, None] * a for w, (_, _, a) in zip(weights, parts, strict=True)]).sum(0)
    return functional.scaled_dot_product_attention(q, k, v), above / below[:, None]


@claim("product-in-halves")
def halves() -> Sides:
    """Three products of fp16 halves, each exact here: what is lost is below 2^-20 of the norm."""
    left, right = some(64, 64).float(), some(64, 65).float()
    scaled = [(x * 2.0**6, (x * 2.0**6).half().double()) for x in (left, right)]
    (a, high_a), (b, high_b) = scaled
    low_a, low_b = (a.double() - high_a).half().double(), (b.double() - high_b).half().double()
    found = (low_a @ high_b + high_a @ low_b + high_a @ high_b) / 2.0**12
    exact = left.double() @ right.double()
    assert float((found - exact).norm() / exact.norm()) < 2.0**-20
    bf_a, bf_b = a.bfloat16().double(), b.bfloat16().double()
    low_a, low_b = (a.double() - bf_a).bfloat16().double(), (b.double() - bf_b).bfloat16().double()
    rough = (low_a @ bf_b + bf_a @ low_b + bf_a @ bf_b) / 2.0**12
    assert float((rough - exact).norm() / exact.norm()) > 2.0**-19
    return found.float().double(), exact.float().double()


@claim("group-norm-statistics")
def grouped() -> Sides:
    x, norm = some(2, 8, 6), torch.nn.GroupNorm(4, 8).double()
    groups = x.reshape(2, 4, -1)
    mean, spread = groups.mean(2, keepdim=True), groups.var(2, keepdim=True, correction=0)
    return norm(x), ((groups - mean) / torch.sqrt(spread + norm.eps)).reshape(x.shape)


def largest_error() -> dict[str, float]:
    """Of each claim, relative to the right side."""
    told = {}
    for topic, sides in CLAIMS.items():
        one, other = sides()
        told[topic] = float((one - other).abs().max() / other.abs().max())
    return told
