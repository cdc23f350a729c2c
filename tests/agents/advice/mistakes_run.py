"""Common mistakes that compile and compute the wrong thing, each beside its mending; run in Triton's interpreter.

`CASES` maps a guide's topic to two functions, each of which returns what a kernel gave and what is right. Loops have
constant bounds, since Triton 3.6's interpreter takes no others with a new numpy.
"""

from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl

Pair = tuple[torch.Tensor, torch.Tensor]
CASES: dict[str, tuple[Callable[[], Pair], Callable[[], Pair]]] = {}


def error(pair: Pair) -> float:
    """RMS of the difference over RMS of the right values; infinite where what should be finite is not."""
    found, right = (each.double() for each in pair)
    if found.shape != right.shape or bool((found.isfinite() != right.isfinite()).any()):
        return float("inf")
    known = right.isfinite()
    return float((found - right)[known].norm() / right[known].norm().clamp_min(1e-30))


def rows(*size: int, shift: float = 0.0) -> torch.Tensor:
    return torch.randn(*size, generator=torch.Generator().manual_seed(0)) + shift


def variants(topic: str, run: Callable[[bool], Pair]) -> None:
    CASES[topic] = (lambda: run(False), lambda: run(True))


@triton.jit
def add_one(x, y, n, BLOCK: tl.constexpr, MASK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if MASK:
        tl.store(y + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)
    else:
        tl.store(y + at, tl.load(x + at) + 1)


def tail(right: bool) -> Pair:
    x, whole = torch.zeros(256), torch.full((256,), 7.0)
    add_one[(triton.cdiv(100, 64),)](x, whole, 100, BLOCK=64, MASK=right)
    return whole, torch.cat([torch.ones(100), torch.full((156,), 7.0)])


variants("mask-tail", tail)


@triton.jit
def largest(x, y, n, BLOCK: tl.constexpr, LEAST: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y + tl.program_id(0), tl.max(tl.load(x + tl.program_id(0) * n + at, mask=at < n, other=LEAST), axis=0))


def masked_largest(right: bool) -> Pair:
    x, y = -rows(8, 100).abs() - 1, torch.empty(8)
    largest[(8,)](x, y, 100, BLOCK=128, LEAST=-float("inf") if right else 0.0)
    return y, x.amax(1)


variants("mask-neutral-value", masked_largest)


@triton.jit
def average(x, y, n, BLOCK: tl.constexpr, BY_BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total = tl.sum(tl.load(x + tl.program_id(0) * n + at, mask=at < n, other=0.0), axis=0)
    tl.store(y + tl.program_id(0), total / (BLOCK if BY_BLOCK else n))


def averaged(right: bool) -> Pair:
    x, y = rows(8, 100), torch.empty(8)
    average[(8,)](x, y, 100, BLOCK=128, BY_BLOCK=not right)
    return y, x.mean(1)


variants("divide-by-count", averaged)


@triton.jit
def spread(x, y, n, BLOCK: tl.constexpr, FORM: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * n + at, mask=at < n, other=0.0)
    mean = tl.sum(v, axis=0) / n
    if FORM == "squares":
        value = tl.sum(v * v, axis=0) / n - mean * mean
    elif FORM == "unmasked":
        value = tl.sum((v - mean) * (v - mean), axis=0) / n
    elif FORM == "masked":
        d = tl.where(at < n, v - mean, 0.0)
        value = tl.sum(d * d, axis=0) / n
    else:
        d = tl.where(at < n, v - mean, 0.0)
        value = tl.sum(d * d, axis=0) / (n - 1)
    tl.store(y + tl.program_id(0), value)


def spread_of(form: str, x: torch.Tensor) -> torch.Tensor:
    y = torch.empty(x.shape[0])
    spread[(x.shape[0],)](x, y, x.shape[1], BLOCK=128, FORM=form)
    return y


variants(
    "variance-masked",
    lambda right: (
        spread_of("masked" if right else "unmasked", rows(8, 100, shift=3)),
        rows(8, 100, shift=3).var(1, correction=0),
    ),
)
variants(
    "variance-correction",
    lambda right: (spread_of("unbiased" if right else "masked", rows(8, 100)), rows(8, 100).var(1)),
)
variants(
    "variance-two-steps",
    lambda right: (
        spread_of("masked" if right else "squares", rows(8, 100, shift=3000)),
        rows(8, 100, shift=3000).double().var(1, correction=0),
    ),
)


@triton.jit
def normalise(x, y, n, BLOCK: tl.constexpr, INSIDE: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * n + at)
    square = tl.sum(v * v, axis=0) / n
    root = tl.sqrt(square + 1e-5) if INSIDE else tl.sqrt(square) + 1e-5
    tl.store(y + tl.program_id(0) * n + at, v / root)


def normalised(right: bool) -> Pair:
    x, y = rows(8, 64) * 1e-3, torch.empty(8, 64)
    normalise[(8,)](x, y, 64, BLOCK=64, INSIDE=right)
    return y, torch.nn.functional.rms_norm(x, (64,), eps=1e-5)


variants("eps-inside-the-root", normalised)


@triton.jit
def gelu(x, y, BLOCK: tl.constexpr, EXACT: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at)
    if EXACT:
        value = 0.5 * v * (1 + tl.erf(v * 0.7071067811865476))
    else:
        value = v * tl.sigmoid(1.5957691216057308 * (v + 0.044715 * v * v * v))
    tl.store(y + at, value)


def gelus(right: bool) -> Pair:
    x, y = rows(512), torch.empty(512)
    gelu[(8,)](x, y, BLOCK=64, EXACT=right)
    return y, torch.nn.functional.gelu(x.double())


variants("gelu-exact", gelus)


@triton.jit
def softmax(x, y, n, BLOCK: tl.constexpr, FORM: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * n + at)
    if FORM == "plain":
        power = tl.exp(v)
    elif FORM == "base 2":
        power = tl.exp2(v - tl.max(v, axis=0))
    else:
        power = tl.exp2((v - tl.max(v, axis=0)) * 1.4426950408889634)
    tl.store(y + tl.program_id(0) * n + at, power / tl.sum(power, axis=0))


def softmaxes(form: str, x: torch.Tensor) -> Pair:
    y = torch.empty_like(x)
    softmax[(x.shape[0],)](x, y, x.shape[1], BLOCK=x.shape[1], FORM=form)
    return y, torch.softmax(x.double(), 1)


variants("softmax-subtract-maximum", lambda right: softmaxes("right" if right else "plain", 100 * rows(8, 64)))
variants("exp2-needs-log2e", lambda right: softmaxes("right" if right else "base 2", rows(8, 64)))


@triton.jit
def online(x, y, n: tl.constexpr, BLOCK: tl.constexpr, GUARD: tl.constexpr, RESCALE: tl.constexpr):
    top, total = -float("inf"), 0.0
    for start in range(0, n, BLOCK):
        v = tl.load(x + tl.program_id(0) * n + start + tl.arange(0, BLOCK))
        new = tl.maximum(top, tl.max(v, axis=0))
        safe = tl.where(new == -float("inf"), 0.0, new) if GUARD else new
        scale = tl.exp(top - safe) if RESCALE else 1.0
        total = total * scale + tl.sum(tl.exp(v - safe), axis=0)
        top = new
    tl.store(y + tl.program_id(0), top + tl.log(total))


def onlines(x: torch.Tensor, guard: bool, rescale: bool) -> Pair:
    y = torch.empty(x.shape[0])
    online[(x.shape[0],)](x, y, x.shape[1], BLOCK=32, GUARD=guard, RESCALE=rescale)
    return y, torch.logsumexp(x.double(), 1)


def first_block_masked() -> torch.Tensor:
    x = rows(4, 128)
    x[:, :32] = -float("inf")
    return x


variants("softmax-masked-block", lambda right: onlines(first_block_masked(), right, True))
variants("softmax-rescale", lambda right: onlines(10 * rows(4, 128), True, right))


@triton.jit
def twice(x, y, n, s0, s1, BLOCK: tl.constexpr, STRIDED: tl.constexpr):
    at = tl.arange(0, BLOCK)
    where = tl.program_id(0) * s0 + at * s1 if STRIDED else tl.program_id(0) * n + at
    tl.store(y + tl.program_id(0) * n + at, 2 * tl.load(x + where))


def strided(right: bool) -> Pair:
    x, y = rows(64, 64).t(), torch.empty(64, 64)
    twice[(64,)](x, y, 64, *x.stride(), BLOCK=64, STRIDED=right)
    return y, 2 * x


variants("strides", strided)


@triton.jit
def offset(y, row, stride, WIDE: tl.constexpr):
    tl.store(y, (row.to(tl.int64) if WIDE else row) * stride)


def offsets(right: bool) -> Pair:
    y = torch.zeros(1, dtype=torch.int64)
    offset[(1,)](y, 70_000, 70_000, WIDE=right)
    return y, torch.tensor([70_000 * 70_000])


variants("offsets-64-bit", offsets)


@triton.jit
def divide_sum(x, y, n, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * n + at)
    v = v.to(tl.float32) if WIDE else v
    tl.store(y + tl.program_id(0) * n + at, (v / (tl.sum(tl.abs(v), axis=0) + 1e-8)).to(tl.float16))


def half_sums(right: bool) -> Pair:
    x, y = (rows(4, 1024) * 1e2).half(), torch.empty(4, 1024, dtype=torch.float16)
    divide_sum[(4,)](x, y, 1024, BLOCK=1024, WIDE=right)
    return y, x.double() / x.double().abs().sum(1, keepdim=True)


variants("half-compute-in-fp32", half_sums)


@triton.jit
def halve(x, y, BLOCK: tl.constexpr, FLOOR: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at)
    tl.store(y + at, tl.where((v % 2 != 0) & (v < 0), v // 2 - 1, v // 2) if FLOOR else v // 2)


def halves(right: bool) -> Pair:
    x, y = torch.arange(-8, 8, dtype=torch.int32), torch.empty(16, dtype=torch.int32)
    halve[(1,)](x, y, BLOCK=16, FLOOR=right)
    return y, x // 2


variants("integer-division", halves)


@triton.jit
def totals(x, y, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.atomic_add(y, tl.sum(tl.load(x + tl.program_id(0) * BLOCK + at), axis=0))


def total(right: bool) -> Pair:
    x, y = rows(256), torch.zeros(1) if right else torch.full((1,), 1e6)
    totals[(4,)](x, y, 256, BLOCK=64)
    return y, x.sum()[None]


variants("clear-what-is-added-to", total)


@triton.jit
def tiles(x, y, columns, BLOCK: tl.constexpr, BY_COLUMNS: tl.constexpr):
    count = tl.cdiv(columns, BLOCK)
    by = count if BY_COLUMNS else tl.num_programs(0) // count
    row, tile = tl.program_id(0) // by, tl.program_id(0) % by
    at = tile * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + row * columns + at, tl.load(x + row * columns + at), mask=at < columns)


def tiled(right: bool) -> Pair:
    x, y = rows(8, 128), torch.zeros(8, 128)
    tiles[(8 * 4,)](x, y, 128, BLOCK=32, BY_COLUMNS=right)
    return y, x


variants("program-order", tiled)


@triton.jit
def running(x, y, n: tl.constexpr, BLOCK: tl.constexpr, CARRY: tl.constexpr):
    carried = 0.0
    for start in range(0, n, BLOCK):
        at = tl.program_id(0) * n + start + tl.arange(0, BLOCK)
        v = tl.load(x + at)
        tl.store(y + at, tl.cumsum(v, axis=0) + carried)
        if CARRY:
            carried += tl.sum(v, axis=0)


def runnings(right: bool) -> Pair:
    x, y = rows(4, 128), torch.empty(4, 128)
    running[(4,)](x, y, 128, BLOCK=32, CARRY=right)
    return y, x.double().cumsum(1)


variants("scan-carry", runnings)


@triton.jit
def log_softmax(x, y, n, BLOCK: tl.constexpr, STABLE: tl.constexpr):
    at = tl.program_id(0) * n + tl.arange(0, BLOCK)
    v = tl.load(x + at)
    v -= tl.max(v, axis=0)
    total = tl.sum(tl.exp(v), axis=0)
    tl.store(y + at, v - tl.log(total) if STABLE else tl.log(tl.exp(v) / total))


def log_softmaxes(right: bool) -> Pair:
    x, y = 100 * rows(4, 64), torch.empty(4, 64)
    log_softmax[(4,)](x, y, 64, BLOCK=64, STABLE=right)
    return y, torch.log_softmax(x.double(), 1)


variants("log-of-softmax", log_softmaxes)


@triton.jit
def causal(x, y, n, BLOCK: tl.constexpr, DIAGONAL: tl.constexpr):
    at = tl.arange(0, BLOCK)
    seen = at[None, :] <= at[:, None] if DIAGONAL else at[None, :] < at[:, None]
    v = tl.load(x + at[:, None] * n + at[None, :])
    tl.store(y + at, tl.sum(tl.where(seen, v, 0.0), axis=1))


def causals(right: bool) -> Pair:
    x, y = rows(32, 32), torch.empty(32)
    causal[(1,)](x, y, 32, BLOCK=32, DIAGONAL=right)
    return y, x.tril().sum(1)


variants("causal-diagonal", causals)


@triton.jit
def shifted(x, y, n, BLOCK: tl.constexpr, GUARD: tl.constexpr):
    at = tl.arange(0, BLOCK)
    here = at - 1
    inside = (here >= 0) & (here < n) if GUARD else here < n
    tl.store(y + at, tl.load(x + here, mask=inside, other=0.0), mask=at < n)


def shifts(right: bool) -> Pair:
    whole, y = rows(65), torch.empty(64)
    x = whole[1:]
    shifted[(1,)](x, y, 64, BLOCK=64, GUARD=right)
    return y, torch.cat([torch.zeros(1), x[:-1]])


variants("padding-both-edges", shifts)


@triton.jit
def product(x, y, z, K: tl.constexpr, BLOCK: tl.constexpr, MASK: tl.constexpr):
    at = tl.arange(0, 16)
    total = tl.zeros((16, 16), tl.float32)
    for start in range(0, K, BLOCK):
        k = start + tl.arange(0, BLOCK)
        inside = k < K if MASK else k < K + BLOCK
        left = tl.load(x + at[:, None] * K + k[None, :], mask=inside[None, :], other=0.0)
        right = tl.load(y + k[:, None] * 16 + at[None, :], mask=inside[:, None], other=0.0)
        total = tl.dot(left, right, total, input_precision="ieee")
    tl.store(z + at[:, None] * 16 + at[None, :], total)


def products(right: bool) -> Pair:
    left, other, z = rows(17, 40), rows(64, 16), torch.empty(16, 16)
    product[(1,)](left, other, z, 40, BLOCK=16, MASK=right)
    return z, left[:16] @ other[:40]


variants("product-inner-tail", products)


@triton.jit
def running_variance(x, y, n, BLOCK: tl.constexpr, UNBIASED: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at * 4 + tl.program_id(0))
    d = v - tl.sum(v, axis=0) / n
    found = tl.sum(d * d, axis=0) / (n - 1 if UNBIASED else n)
    tl.store(y + tl.program_id(0), 0.9 * tl.load(y + tl.program_id(0)) + 0.1 * found)


def running_variances(right: bool) -> Pair:
    x, y, norm = rows(16, 4), torch.ones(4), torch.nn.BatchNorm1d(4).train()
    running_variance[(4,)](x, y, 16, BLOCK=16, UNBIASED=right)
    norm(x)
    return y, norm.running_var


variants("batch-norm-buffers", running_variances)


@triton.jit
def first_largest(x, y, n, BLOCK: tl.constexpr, LEFT: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * n + at)
    place = tl.argmax(v, axis=0) if LEFT else tl.max(tl.where(v == tl.max(v, axis=0), at, -1), axis=0)
    tl.store(y + tl.program_id(0), place)


def places(right: bool) -> Pair:
    x, y = torch.tensor([[0.0, 2.0, 1.0, 2.0]] * 4), torch.empty(4, dtype=torch.int64)
    first_largest[(4,)](x, y, 4, BLOCK=4, LEFT=right)
    return y, x.argmax(1)


variants("argmax-first-of-equals", places)


@triton.jit
def saturating(x, y, BLOCK: tl.constexpr, FORM: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at)
    if FORM == "tanh by powers":
        power = tl.exp(2 * v)
        value = (power - 1) / (power + 1)
    elif FORM == "tanh":
        value = 2 * tl.sigmoid(2 * v) - 1
    elif FORM == "softplus by powers":
        value = tl.log(1 + tl.exp(v))
    else:
        value = tl.maximum(v, 0.0) + tl.log(1 + tl.exp(-tl.abs(v)))
    tl.store(y + at, value)


def saturated(form: str, right: Callable[[torch.Tensor], torch.Tensor]) -> Pair:
    x, y = 100 * rows(64), torch.empty(64)
    saturating[(1,)](x, y, BLOCK=64, FORM=form)
    return y, right(x.double())


variants("tanh-overflow", lambda right: saturated("tanh" if right else "tanh by powers", torch.tanh))
variants(
    "softplus-overflow",
    lambda right: saturated("softplus" if right else "softplus by powers", torch.nn.functional.softplus),
)


@triton.jit
def pool(x, y, n, BLOCK: tl.constexpr, BY_WINDOW: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total, count = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
    for tap in tl.static_range(-1, 2):
        inside = (at + tap >= 0) & (at + tap < n)
        total += tl.load(x + at + tap, mask=inside, other=0.0)
        count += inside.to(tl.float32)
    tl.store(y + at, total / (3.0 if BY_WINDOW else count), mask=at < n)


def pooled(right: bool) -> Pair:
    x, y = rows(64), torch.empty(64)
    pool[(1,)](x, y, 64, BLOCK=64, BY_WINDOW=right)
    return y, torch.nn.functional.avg_pool1d(x[None], 3, 1, 1)[0]


variants("pooling-count", pooled)


@triton.jit
def unpack(x, y, BLOCK: tl.constexpr, SIGNED: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at)
    low = (v << 4) >> 4 if SIGNED else v & 15
    tl.store(y + 2 * at, low)
    tl.store(y + 2 * at + 1, v >> 4)


def unpacked(right: bool) -> Pair:
    whole, y = torch.arange(-8, 8, dtype=torch.int8), torch.empty(16, dtype=torch.int8)
    x = (whole[::2] & 15) | (whole[1::2] << 4)
    unpack[(1,)](x, y, BLOCK=8, SIGNED=right)
    return y, whole


variants("int4-sign", unpacked)


@triton.jit
def padded_sort(x, y, n, BLOCK: tl.constexpr, PAD: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.sort(tl.load(x + tl.program_id(0) * n + at, mask=at < n, other=PAD))
    tl.store(y + tl.program_id(0) * n + at, v, mask=at < n)


def sorts(right: bool) -> Pair:
    x, y = rows(4, 50), torch.empty(4, 50)
    padded_sort[(4,)](x, y, 50, BLOCK=64, PAD=float("inf") if right else 0.0)
    return y, x.sort(1).values


variants("sort-padding", sorts)


@triton.jit
def draw(y, seed, BLOCK: tl.constexpr, BY_PROGRAM: tl.constexpr):
    at = tl.arange(0, BLOCK) if BY_PROGRAM else tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.rand(seed, at))


def draws(right: bool) -> Pair:
    y, whole = torch.empty(256), torch.empty(256)
    draw[(4,)](y, 7, BLOCK=64, BY_PROGRAM=not right)
    draw[(1,)](whole, 7, BLOCK=256, BY_PROGRAM=False)
    return y, whole


variants("random-by-element", draws)


@triton.jit
def target_loss(x, target, y, n, ignored, BLOCK: tl.constexpr, IGNORE: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at)
    top = tl.max(v, axis=0)
    wanted = tl.load(target + row)
    kept = wanted != ignored if IGNORE else wanted > -2147483647
    logit = tl.load(x + row * n + wanted, mask=(wanted >= 0) & kept, other=0.0)
    tl.store(y + row, tl.where(kept, top + tl.log(tl.sum(tl.exp(v - top), axis=0)) - logit, 0.0))


def target_losses(right: bool) -> Pair:
    x, y, target = rows(8, 64), torch.empty(8), torch.tensor([1, 2, -100, 4, 5, -100, 7, 8])
    target_loss[(8,)](x, target, y, 64, -100, BLOCK=64, IGNORE=right)
    return y, torch.nn.functional.cross_entropy(x.double(), target, reduction="none")


variants("loss-ignored-targets", target_losses)


def tell() -> dict[str, Any]:
    """The error of each mistake and of its mending."""
    return {topic: [error(run()) for run in pair] for topic, pair in CASES.items()}
