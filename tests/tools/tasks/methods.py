"""Ways to compute the same thing: sound ones that no budget may refuse, and sloppy ones that every budget must show."""

from collections.abc import Callable
from typing import NamedTuple

import torch

from egg.tools.tasks.tf32 import rounded

Tensor = torch.Tensor
LANES = 32


class Method(NamedTuple):
    """A reference, another way to compute it, and shapes of the inputs."""

    reference: Callable[..., Tensor]
    candidate: Callable[..., Tensor]
    shapes: tuple[tuple[int, ...], ...]
    scales: bool = False
    """Whether the output scales with the inputs."""


def lanes(x: Tensor) -> Tensor:
    """A sum over the last dimension as a block of threads makes it: strided partial sums, then a tree."""
    x = torch.nn.functional.pad(x, (0, -x.shape[-1] % LANES)).unflatten(-1, (-1, LANES))
    total = torch.zeros(*x.shape[:-2], LANES)
    for index in range(x.shape[-2]):
        total = total + x[..., index, :]
    while total.shape[-1] > 1:
        total = total[..., ::2] + total[..., 1::2]
    return total[..., 0]


def tiled(a: Tensor, b: Tensor, step: int = 64) -> Tensor:
    total = torch.zeros(a.shape[0], b.shape[1])
    for start in range(0, a.shape[1], step):
        total = total + a[:, start : start + step] @ b[start : start + step]
    return total


def truncating(a: Tensor, b: Tensor, step: int = 4, promote: int = 0) -> Tensor:
    """A tensor core's accumulator: every few products added and cut off; now and then emptied into a float32 sum."""
    kept, total = torch.zeros(a.shape[0], b.shape[1]), torch.zeros(a.shape[0], b.shape[1])
    for start in range(0, a.shape[1], step):
        exact = kept.double() + a[:, start : start + step].double() @ b[start : start + step].double()
        near = exact.float()
        kept = torch.where(near.double().abs() > exact.abs(), torch.nextafter(near, torch.zeros_like(near)), near)
        if promote and (start + step) % promote == 0:
            total, kept = total + kept, torch.zeros_like(kept)
    return total + kept


def halves(x: Tensor, by_row: bool) -> tuple[Tensor, Tensor, Tensor]:
    largest = x.abs().amax(1, keepdim=True) if by_row else x.abs().amax()
    scale = torch.exp2(9 - torch.floor(torch.log2(largest.clamp_min(1e-37))))
    high = (x * scale).half().float()
    return high, (x * scale - high).half().float(), scale


def fp16x3(a: Tensor, b: Tensor, by_row: bool = True) -> Tensor:
    a_high, a_low, a_scale = halves(a, by_row)
    b_high, b_low, b_scale = halves(b.T, by_row)
    total = tiled(a_high, b_high.T) + (tiled(a_low, b_high.T) + tiled(a_high, b_low.T))
    return total / a_scale / (b_scale.T if by_row else b_scale)


def tf32x3(a: Tensor, b: Tensor) -> Tensor:
    a_high, b_high = rounded(a), rounded(b)
    a_low, b_low = rounded(a - a_high), rounded(b - b_high)
    return tiled(a_high, b_high) + (tiled(a_low, b_high) + tiled(a_high, b_low))


def online(x: Tensor, step: int = 32) -> Tensor:
    most, total = torch.full(x.shape[:-1], -torch.inf), torch.zeros(x.shape[:-1])
    for start in range(0, x.shape[-1], step):
        part = x[..., start : start + step]
        higher = torch.maximum(most, part.amax(-1))
        total = total * torch.exp(most - higher) + torch.exp(part - higher[..., None]).sum(-1)
        most = higher
    return torch.exp(x - most[..., None]) / total[..., None]


def welford(x: Tensor, step: int = 32) -> Tensor:
    """Layer normalisation from means and variances of chunks, merged (Chan's formula)."""
    count, mean, squares = 0, torch.zeros(x.shape[:-1]), torch.zeros(x.shape[:-1])
    for start in range(0, x.shape[-1], step):
        part = x[..., start : start + step]
        size = part.shape[-1]
        own = lanes(part) / size
        shift = own - mean
        mean = mean + shift * (size / (count + size))
        squares = squares + lanes((part - own[..., None]) ** 2) + shift * shift * (count * size / (count + size))
        count += size
    return (x - mean[..., None]) * torch.rsqrt(squares[..., None] / count + 1e-5)


def two_passes(x: Tensor) -> Tensor:
    from_mean = x - lanes(x)[..., None] / x.shape[-1]
    return from_mean / torch.sqrt(lanes(from_mean**2)[..., None] / x.shape[-1] + 1e-5)


def one_pass(x: Tensor) -> Tensor:
    mean, square = x.mean(-1, keepdim=True), (x * x).mean(-1, keepdim=True)
    return (x - mean) * torch.rsqrt(square - mean * mean + 1e-5)


def normed(x: Tensor) -> Tensor:
    return torch.nn.functional.layer_norm(x, x.shape[-1:])


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.softmax(q @ k.T / q.shape[-1] ** 0.5, -1) @ v


def half_probabilities(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.softmax(q @ k.T / q.shape[-1] ** 0.5, -1).half().float() @ v


def bf16(x: Tensor) -> Tensor:
    return x.bfloat16().float()


def last_off(x: Tensor) -> Tensor:
    doubled = x * 2
    doubled.view(-1)[-1:] *= 1.01
    return doubled


SQUARE = ((24, 256), (256, 48))
LONG = ((24, 2048), (2048, 24))
SOFTMAX: Callable[[Tensor], Tensor] = lambda x: torch.softmax(x, -1)  # noqa: E731
F = torch.nn.functional

SOUND = {
    "rows summed": Method(lambda x: x.sum(-1), lanes, ((64, 700),), True),
    "one sum": Method(lambda x: x.sum(-1), lanes, ((1, 3000),), True),
    "sums as a column": Method(lambda x: x.sum(-1, keepdim=True), lambda x: lanes(x)[:, None], ((300, 513),), True),
    "mean of all": Method(torch.mean, lambda x: lanes(x.reshape(-1)) / x.numel(), ((40, 129),)),
    "product in tiles": Method(torch.matmul, tiled, ((33, 512), (512, 65)), True),
    "matrix times vector": Method(torch.matmul, tiled, ((65, 1024), (1024, 1)), True),
    "one dot product": Method(torch.matmul, tiled, ((1, 1024), (1024, 1)), True),
    "fp16x3": Method(torch.matmul, fp16x3, SQUARE, True),
    "tf32x3": Method(torch.matmul, tf32x3, SQUARE, True),
    "promoted accumulator": Method(torch.matmul, lambda a, b: truncating(a, b, promote=256), LONG, True),
    "online softmax": Method(SOFTMAX, online, ((20, 999),)),
    "online softmax, one row": Method(SOFTMAX, online, ((1, 5000),)),
    "layer norm, Welford": Method(normed, welford, ((24, 257),)),
    "layer norm, one row": Method(normed, welford, ((1, 257),)),
    "layer norm, two passes": Method(normed, two_passes, ((24, 513),)),
    "layer norm far from zero": Method(lambda x: normed(x + 1000), lambda x: two_passes(x + 1000), ((4, 257),)),
    "layer norm of one row far from zero": Method(lambda x: normed(x + 1000), lambda x: welford(x + 1000), ((1, 257),)),
    "elu by exp": Method(F.elu, lambda x: torch.where(x > 0, x, torch.exp(x) - 1), ((40, 129),)),
    "tanh by exp": Method(torch.tanh, lambda x: 1 - 2 / (torch.exp((2 * x).clamp(max=80)) + 1), ((40, 129),)),
    "gelu by erf": Method(F.gelu, lambda x: x * 0.5 * (1 + torch.erf(x * 0.70710678)), ((40, 129),)),
    "softplus": Method(F.softplus, lambda x: torch.where(x > 20, x, torch.log(1 + torch.exp(x))), ((40, 129),)),
    "sigmoid by exp2": Method(torch.sigmoid, lambda x: 1 / (1 + torch.exp2(-x * 1.44269504)), ((40, 129),)),
    "unit vectors": Method(
        lambda x: x / x.norm(dim=-1, keepdim=True), lambda x: x * torch.rsqrt(lanes(x * x)[:, None]), ((24, 300),)
    ),
    "attention": Method(
        attention,
        lambda q, k, v: tiled(online(tiled(q, k.T, 16) / q.shape[-1] ** 0.5), v, 16),
        ((65, 32), (130, 32), (130, 32)),
    ),
    "fused multiply and add": Method(
        lambda x, y: F.relu(x * 1.5 + y),
        lambda x, y: F.relu((x.double() * 1.5 + y.double()).float()),
        ((7, 143), (7, 143)),
        True,
    ),
    "columns normed": Method(
        lambda x: F.batch_norm(x, None, None, training=True), lambda x: two_passes(x.T.contiguous()).T, ((64, 40),)
    ),
    "two layers": Method(
        lambda x, v, w: F.relu(x @ v) @ w,
        lambda x, v, w: tiled(F.relu(tiled(x, v)), w),
        ((17, 100), (100, 200), (200, 1)),
        True,
    ),
}
SLOPPY = {
    "bf16 product": Method(torch.matmul, lambda a, b: bf16(a) @ bf16(b), SQUARE, True),
    "one factor in bf16": Method(torch.matmul, lambda a, b: bf16(a) @ b, LONG, True),
    "tf32 product": Method(torch.matmul, lambda a, b: rounded(a) @ rounded(b), SQUARE, True),
    "long tf32 product": Method(torch.matmul, lambda a, b: rounded(a) @ rounded(b), LONG, True),
    "tf32 matrix times vector": Method(
        torch.matmul, lambda a, b: rounded(a) @ rounded(b), ((65, 1024), (1024, 1)), True
    ),
    "fp16x3 with one scale": Method(torch.matmul, lambda a, b: fp16x3(a, b, by_row=False), SQUARE, True),
    "truncating accumulator": Method(torch.matmul, truncating, LONG, True),
    "truncating accumulator, a quarter as long": Method(torch.matmul, truncating, ((32, 1024), (1024, 32)), True),
    "softmax in bf16": Method(SOFTMAX, lambda x: bf16(torch.softmax(x, -1)), ((20, 999),)),
    "softmax without the maximum": Method(
        SOFTMAX, lambda x: torch.exp(x) / torch.exp(x).sum(-1, keepdim=True), ((20, 999),)
    ),
    "probabilities in fp16": Method(attention, half_probabilities, ((65, 32), (130, 32), (130, 32))),
    "gelu by tanh": Method(F.gelu, lambda x: F.gelu(x, approximate="tanh"), ((40, 129),)),
    "variance as a difference": Method(lambda x: normed(x + 100), lambda x: one_pass(x + 100), ((24, 257),)),
    "one element of a hundred thousand": Method(lambda x: x * 2, last_off, ((100, 1290),), True),
}
