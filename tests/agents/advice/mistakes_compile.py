"""Common mistakes that the compiler refuses, each beside its mending. `CASES` maps a guide's topic to both."""

from collections.abc import Callable
from typing import Any

import triton
import triton.language as tl

from tests.agents.advice.lab import lower

Attempt = Callable[[], object]
CASES: dict[str, tuple[Attempt, Attempt]] = {}
BLOCK = 64


def case(topic: str, wrong: Any, right: Any, types: str = "*fp32, *fp32", **given: Any) -> None:
    """A kernel that makes the mistake, and the same without it; `right` may be other constants or types instead."""
    constants, target = given.get("constants", {}), given.get("target", "sm_90")
    mended = {"kernel": wrong, "types": types, "constants": constants, "target": target}
    mended.update(right if isinstance(right, dict) else {"kernel": right})
    CASES[topic] = (lambda: lower(wrong, types, constants, target), lambda: lower(**mended))


@triton.jit
def any_block(x, y, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(y + at, tl.load(x + at))


@triton.jit
def padded_block(x, y, N: tl.constexpr, POWER: tl.constexpr):
    at = tl.arange(0, POWER)
    tl.store(y + at, tl.load(x + at, mask=at < N), mask=at < N)


case(
    "arange-power-of-two",
    any_block,
    {"kernel": padded_block, "constants": {"N": 100, "POWER": 128}},
    constants={"N": 100},
)


@triton.jit
def block_at_run_time(x, y, n):
    at = tl.arange(0, n)
    tl.store(y + at, tl.load(x + at))


FIXED = {"kernel": any_block, "types": "*fp32, *fp32", "constants": {"N": 64}}
case("arange-constexpr", block_at_run_time, FIXED, types="*fp32, *fp32, i32")


@triton.jit
def product(x, y, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    left = tl.load(x + m[:, None] * K + k[None, :])
    right = tl.load(x + k[:, None] * N + n[None, :])
    tl.store(y + m[:, None] * N + n[None, :], tl.dot(left, right).to(tl.float32))


case(
    "dot-least-size",
    product,
    {"constants": {"M": 16, "N": 16, "K": 16}},
    constants={"M": 16, "N": 16, "K": 4},
)


@triton.jit
def product_not_transposed(x, y, M: tl.constexpr, K: tl.constexpr):
    m, k = tl.arange(0, M), tl.arange(0, K)
    left = tl.load(x + m[:, None] * K + k[None, :])
    tl.store(y + m[:, None] * M + m[None, :], tl.dot(left, left))


@triton.jit
def product_transposed(x, y, M: tl.constexpr, K: tl.constexpr):
    m, k = tl.arange(0, M), tl.arange(0, K)
    left = tl.load(x + m[:, None] * K + k[None, :])
    tl.store(y + m[:, None] * M + m[None, :], tl.dot(left, tl.trans(left)))


case("dot-inner-size", product_not_transposed, product_transposed, constants={"M": 32, "K": 64})


@triton.jit
def product_of_two_types(x, y):
    at = tl.arange(0, 16)
    both = at[:, None] * 16 + at[None, :]
    left = tl.load(x + both)
    tl.store(y + both, tl.dot(left, left.to(tl.float16)))


@triton.jit
def product_of_one_type(x, y):
    at = tl.arange(0, 16)
    both = at[:, None] * 16 + at[None, :]
    left = tl.load(x + both).to(tl.float16)
    tl.store(y + both, tl.dot(left, left))


case("dot-one-type", product_of_two_types, product_of_one_type)


@triton.jit
def changed_type(x, y, n):
    total = 0
    for i in range(0, n):
        total += tl.load(x + i)
    tl.store(y, total)


@triton.jit
def kept_type(x, y, n):
    total = 0.0
    for i in range(0, n):
        total += tl.load(x + i)
    tl.store(y, total)


case("loop-carried-type", changed_type, kept_type, types="*fp32, *fp32, i32")


@triton.jit
def changed_shape(x, y, n):
    at = tl.arange(0, 64)
    total = tl.zeros((1,), tl.float32)
    for i in range(0, n):
        total += tl.load(x + i * 64 + at)
    tl.store(y + at, total)


@triton.jit
def kept_shape(x, y, n):
    at = tl.arange(0, 64)
    total = tl.zeros((64,), tl.float32)
    for i in range(0, n):
        total += tl.load(x + i * 64 + at)
    tl.store(y + at, total)


case("loop-carried-shape", changed_shape, kept_shape, types="*fp32, *fp32, i32")


@triton.jit
def only_in_branch(x, y, n):
    if n > 4:
        value = tl.load(x)
    tl.store(y, value)


@triton.jit
def before_branch(x, y, n):
    value = 0.0
    if n > 4:
        value = tl.load(x)
    tl.store(y, value)


case("defined-in-a-branch", only_in_branch, before_branch, types="*fp32, *fp32, i32")


@triton.jit
def breaks(x, y, n):
    total = 0.0
    for i in range(0, n):
        if i > 3:
            break
        total += tl.load(x + i)
    tl.store(y, total)


@triton.jit
def masks(x, y, n):
    total = 0.0
    for i in range(0, n):
        total += tl.load(x + i, mask=i <= 3, other=0.0)
    tl.store(y, total)


case("no-break", breaks, masks, types="*fp32, *fp32, i32")


@triton.jit
def returns_in_loop(x, y, n):
    for i in range(0, n):
        if i == 3:
            return
        tl.store(y + i, tl.load(x + i))


@triton.jit
def ends_early(x, y, n):
    for i in range(0, tl.minimum(n, 3)):
        tl.store(y + i, tl.load(x + i))


case("no-return-in-a-loop", returns_in_loop, ends_early, types="*fp32, *fp32, i32")


@triton.jit
def has_tanh(x, y):
    at = tl.arange(0, 64)
    tl.store(y + at, tl.tanh(tl.load(x + at)))


@triton.jit
def computes_tanh(x, y):
    at = tl.arange(0, 64)
    tl.store(y + at, 2.0 * tl.sigmoid(2.0 * tl.load(x + at)) - 1.0)


case("no-such-function", has_tanh, computes_tanh)


@triton.jit
def indexes(x, y):
    v = tl.load(x + tl.arange(0, 64))
    tl.store(y, v[0])


@triton.jit
def selects(x, y):
    at = tl.arange(0, 64)
    v = tl.load(x + at)
    tl.store(y, tl.sum(tl.where(at == 0, v, 0.0), axis=0))


case("no-indexing", indexes, selects)


@triton.jit
def slices(x, y):
    v = tl.load(x + tl.arange(0, 64))
    tl.store(y + tl.arange(0, 32), v[:32])


@triton.jit
def loads_less(x, y):
    at = tl.arange(0, 32)
    tl.store(y + at, tl.load(x + at))


case("no-slicing", slices, loads_less)


@triton.jit
def reads_global(x, y):
    at = tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at))


case("globals-constexpr", reads_global, FIXED)


@triton.jit
def half_index(x, y):
    at = tl.arange(0, 64)
    tl.store(y + at, tl.load(x + at / 2))


@triton.jit
def whole_index(x, y):
    at = tl.arange(0, 64)
    tl.store(y + at, tl.load(x + at // 2))


case("whole-indices", half_index, whole_index)


@triton.jit
def wrong_shapes(x, y):
    rows, columns = tl.arange(0, 16), tl.arange(0, 32)
    v = tl.load(x + rows[:, None] * 32 + columns[None, :])
    tl.store(y + rows[:, None] * 32 + columns[None, :], v - tl.max(v, axis=1))


@triton.jit
def right_shapes(x, y):
    rows, columns = tl.arange(0, 16), tl.arange(0, 32)
    v = tl.load(x + rows[:, None] * 32 + columns[None, :])
    tl.store(y + rows[:, None] * 32 + columns[None, :], v - tl.max(v, axis=1)[:, None])


case("broadcast-shapes", wrong_shapes, right_shapes)


@triton.jit
def branches_on_block(x, y):
    at = tl.arange(0, 64)
    v = tl.load(x + at)
    if v > 0:
        tl.store(y + at, v)


@triton.jit
def chooses(x, y):
    at = tl.arange(0, 64)
    v = tl.load(x + at)
    tl.store(y + at, tl.where(v > 0, v, 0.0))


case("no-branch-on-a-block", branches_on_block, chooses)


@triton.jit
def half_exponential(x, y):
    at = tl.arange(0, 64)
    tl.store(y + at, tl.exp(tl.load(x + at)))


@triton.jit
def single_exponential(x, y):
    at = tl.arange(0, 64)
    tl.store(y + at, tl.exp(tl.load(x + at).to(tl.float32)).to(tl.float16))


case("exp-in-fp32", half_exponential, single_exponential, types="*fp16, *fp16")


@triton.jit
def eight_bits(x, y):
    at = tl.arange(0, 64)
    tl.store(y + at, tl.load(x + at).to(tl.float8e4nv).to(tl.float32))


case("fp8-by-generation", eight_bits, {"target": "sm_89"}, target="sm_80")


@triton.jit
def wide_descriptor(x, y, n, W: tl.constexpr):
    tiles = tl.make_tensor_descriptor(x, [n, 64], [64, 1], [16, W])
    at = tl.arange(0, 16)[:, None] * W + tl.arange(0, W)[None, :]
    tl.store(y + at, tiles.load([0, 0]))


case(
    "descriptor-least-width",
    wide_descriptor,
    {"constants": {"W": 4}},
    types="*fp32, *fp32, i32",
    constants={"W": 2},
)


@triton.jit
def lists(x, y):
    at = tl.arange(0, 64)
    parts = []
    for i in range(4):
        parts.append(tl.load(x + i * 64 + at))
    tl.store(y + at, parts[0] + parts[3])


@triton.jit
def unrolled(x, y):
    at = tl.arange(0, 64)
    total = tl.zeros((64,), tl.float32)
    for i in tl.static_range(4):
        total += tl.load(x + i * 64 + at)
    tl.store(y + at, total)


case("no-lists", lists, unrolled)


@triton.jit
def stores_to_scalar(x, y):
    at = tl.arange(0, 64)
    tl.store(y, tl.load(x + at))


@triton.jit
def stores_block(x, y):
    at = tl.arange(0, 64)
    tl.store(y + at, tl.load(x + at))


case("block-of-pointers", stores_to_scalar, stores_block)


@triton.jit
def scalar_pointer(x, y):
    tl.store(y, x * 2)


@triton.jit
def loaded(x, y):
    tl.store(y, tl.load(x) * 2)


case("load-before-computing", scalar_pointer, loaded)

CASES["warps-power-of-two"] = (
    lambda: lower(any_block, "*fp32, *fp32", {"N": 64}, num_warps=6),
    lambda: lower(any_block, "*fp32, *fp32", {"N": 64}, num_warps=8),
)
