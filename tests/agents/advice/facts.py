"""What guides say of the code that Triton makes, read in that code. `FACTS` maps a topic to a function that looks."""

import re
from collections.abc import Callable
from typing import Any

import triton
import triton.language as tl

from tests.agents.advice.lab import Built, build

FACTS: dict[str, Callable[[], bool]] = {}
HALVES, SINGLES = "*fp16, *fp16, *fp32, i32, i32", "*fp32, *fp32, *fp32, i32, i32"


def fact(topic: str) -> Callable[[Callable[[], bool]], Callable[[], bool]]:
    def keep(look: Callable[[], bool]) -> Callable[[], bool]:
        FACTS[topic] = look
        return look

    return keep


@triton.jit
def product(
    a,
    b,
    c,
    N,
    K,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    P: tl.constexpr,
    NK: tl.constexpr,
    FORM: tl.constexpr,
):
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        i = k + tl.arange(0, BK)
        x = tl.load(a + m[:, None] * K + i[None, :])
        y = tl.load(b + n[None, :] * K + i[:, None]) if NK else tl.load(b + i[:, None] * N + n[None, :])
        if FORM == "added":
            acc += tl.dot(x, y, input_precision=P)
        elif FORM == "chained":
            p = tl.dot(x, y)
            p = tl.dot(x, y, p)
            acc += p
        else:
            acc = tl.dot(x, y, acc, input_precision=P)
    tl.store(c + m[:, None] * N + n[None, :], acc)


def dot(
    target: str = "sm_90", types: str = HALVES, warps: int = 8, stages: int = 3, uneven: str = "", **given: Any
) -> Built:
    constants = {"BM": 128, "BN": 128, "BK": 64, "P": "ieee", "NK": False, "FORM": "passed", **given}
    return build(product, types, constants, target, uneven, num_warps=warps, num_stages=stages)


@fact("wgmma-least-tile")
def small_tiles() -> bool:
    narrow = dot(BM=64, BN=16, warps=4)
    return narrow.has("wgmma") and not dot(BM=32, warps=4).has("wgmma") and not dot(BM=64, warps=2).has("wgmma")


@fact("product-tile-blackwell")
def tensor_memory() -> bool:
    return dot("sm_100", BM=64, warps=4).has("tcgen05.mma") and not dot("sm_100", BM=32, warps=4).has("tcgen05.mma")


@fact("product-tile-ampere")
def ampere_registers() -> bool:
    return dot("sm_80", warps=4).registers > 230 > 180 > dot("sm_80", warps=8).registers


@fact("product-tile-ada")
def ada_memory() -> bool:
    return dot("sm_89", stages=4).shared == 96 * 1024


@fact("stages-ampere")
def ampere_buffers() -> bool:
    return [dot("sm_80", stages=n).shared // 1024 for n in (1, 2, 3)] == [32, 32, 64]


@fact("stages-hopper")
def hopper_buffers() -> bool:
    return [dot("sm_90", stages=n).shared // 1024 for n in (2, 3, 4)] == [64, 96, 128]


@fact("shared-memory-reads")
def words_for_each_multiply_add() -> bool:
    built = [dot(types=SINGLES, BM=m, BN=n, BK=16, warps=w) for m, n, w in ((64, 64, 8), (64, 64, 4), (128, 64, 4))]
    spilling = dot(types=SINGLES, BK=16, warps=4)
    return [round(_words(each), 2) for each in built] == [0.56, 0.44, 0.38] and spilling.spills > 0


def _words(built: Built) -> float:
    """Of shared memory that a thread reads for each of its multiply-adds."""
    widths = re.findall(r"ld\.shared(?:\.v(\d))?\.[bf]32", built.ptx)
    return sum(int(width or 1) for width in widths) / built.count(r"fma\.rn\.f32")


@fact("tf32-operand-order")
def order() -> bool:
    across, along = (dot(types=SINGLES, BK=32, P="tf32", NK=kept) for kept in (False, True))
    return across.has(r"cp\.async\.ca") and not along.has(r"cp\.async\.ca") and along.has("wgmma")


@fact("exact-products")
def precisions() -> bool:
    plain, thrice = (dot(types=SINGLES, BK=32, NK=True, P=p) for p in ("ieee", "tf32x3"))
    return plain.has(r"fma\.rn\.f32") and not plain.has("mma") and thrice.has("wgmma")


@fact("promotion-is-folded")
def folded() -> bool:
    return "arith.addf" not in dot(FORM="added").loop() and "arith.addf" in dot(FORM="chained").loop()


@fact("dot-chain-waits")
def waits() -> bool:
    return "pendings = 1" in dot().loop() and "pendings = 1" not in dot(FORM="chained").loop()


@fact("sixteen-warps")
def conversion() -> bool:
    return ["convert_layout" in dot(FORM="chained", warps=w).loop() for w in (8, 16)] == [False, True]


@fact("async-copy-width")
def odd_rows() -> bool:
    odd = dot("sm_80", uneven="N K")
    return odd.has(r"ld\.global\.b16") and not odd.has(r"cp\.async\.c[ag]") and dot("sm_80").has(r"cp\.async\.cg")


@triton.jit
def integers(a, b, c, N, K, BK: tl.constexpr):
    m, n = tl.arange(0, 128), tl.arange(0, 128)
    acc = tl.zeros((128, 128), tl.int32)
    for k in range(0, K, BK):
        i = k + tl.arange(0, BK)
        x, y = tl.load(a + m[:, None] * K + i[None, :]), tl.load(b + n[None, :] * K + i[:, None])
        acc = tl.dot(x, y, acc, out_dtype=tl.int32)
    tl.store(c + m[:, None] * N + n[None, :], acc)


@fact("int8-products")
def integer_units() -> bool:
    made = {t: build(integers, "*i8, *i8, *i32, i32, i32", {"BK": 32}, t, num_warps=8) for t in ("sm_80", "sm_90")}
    return made["sm_90"].has(r"wgmma\S*s32\.s8\.s8") and made["sm_80"].has(r"mma\.sync\S*m16n8k32\S*s8\.s8")


@triton.jit
def divide(x, y, EXACT: tl.constexpr):
    at = tl.arange(0, 128)
    v = tl.load(x + at)
    tl.store(y + at, tl.math.div_rn(1 + v, tl.math.sqrt_rn(v)) if EXACT else (1 + v) / tl.sqrt(v))


@fact("rounding")
def roundings() -> bool:
    plain, exact = (build(divide, "*fp32, *fp32", {"EXACT": e}) for e in (False, True))
    return plain.has(r"div\.full") and plain.has(r"sqrt\.approx") and exact.has(r"div\.rn") and exact.has(r"sqrt\.rn")


@triton.jit
def row(x, y, n, BLOCK: tl.constexpr, MASK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < n if MASK else at < BLOCK
    v = tl.load(x + tl.program_id(0) * n + at, mask=inside, other=0.0)
    tl.store(y + tl.program_id(0) * n + at, v / tl.sqrt(tl.sum(v * v, axis=0) / n + 1e-5), mask=inside)


@triton.jit
def promised(x, y, n, BLOCK: tl.constexpr, FORM: tl.constexpr):
    if FORM == "argument":
        at = tl.program_id(0) * tl.multiple_of(n, 4)
    elif FORM == "offset":
        at = tl.multiple_of(tl.program_id(0) * n, 4)
    else:
        at = tl.program_id(0) * 1000
    inside = tl.arange(0, BLOCK) < 1000 if FORM == "constant" else tl.arange(0, BLOCK) < BLOCK
    tl.store(y + at + tl.arange(0, BLOCK), 2 * tl.load(x + at + tl.arange(0, BLOCK), mask=inside), mask=inside)


@fact("vector-width")
def widths() -> bool:
    even, odd = (build(row, "*fp32, *fp32, i32", {"BLOCK": 1024, "MASK": True}, uneven=u) for u in ("", "n"))
    forms = ("argument", "offset", "constant")
    made = [build(promised, "*fp32, *fp32, i32", {"BLOCK": 1024, "FORM": form}, uneven="n") for form in forms]
    wide = [each.has(r"ld\.global\.v4") for each in (even, odd, *made)]
    return wide == [True, False, False, True, True]


@fact("row-registers")
def row_registers() -> bool:
    def made(block: int, warps: int) -> Built:
        return build(row, "*fp32, *fp32, i32", {"BLOCK": block, "MASK": False}, num_warps=warps)

    fewer, more = made(16384, 4).registers, made(16384, 16).registers
    return fewer > 140 > 70 > more and made(65536, 32).spills > 0


@triton.jit
def double(x, y, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at))


@fact("short-rows")
def repeated() -> bool:
    return [build(double, "*fp32, *fp32", {"BLOCK": b}).has(r"@%p\d+ st\.global") for b in (32, 128)] == [True, False]


@triton.jit
def unflatten(x, y, w, BLOCK: tl.constexpr, FIXED: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + (at // 56) % 30) if FIXED else tl.load(x + (at // w) % w))


@fact("index-arithmetic")
def divisions() -> bool:
    made = [build(unflatten, "*fp32, *fp32, i32", {"BLOCK": 512, "FIXED": f}) for f in (False, True)]
    return [each.has(r"(div|rem)\.s32") for each in made] == [True, False]


@triton.jit
def stream(x, y, n, BLOCK: tl.constexpr, RANGE: tl.constexpr):
    at = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    if RANGE:
        for s in tl.range(0, n, BLOCK, num_stages=4):
            acc += tl.load(x + s + at)
    else:
        for s in range(0, n, BLOCK):
            acc += tl.load(x + s + at)
    tl.store(y + at, acc)


@fact("stages-need-a-dot")
def streams() -> bool:
    made = [build(stream, "*fp32, *fp32, i32", {"BLOCK": 1024, "RANGE": r}, num_stages=4) for r in (False, True)]
    return [each.has(r"cp\.async\.c[ag]") for each in made] == [False, True]


@triton.jit
def by_descriptor(x, y, n):
    tiles = tl.make_tensor_descriptor(x, [n, 512], [512, 1], [64, 64])
    at = tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]
    tl.store(y + at, tiles.load([tl.program_id(0) * 64, 0]))


@fact("tma-by-generation")
def descriptors() -> bool:
    made = [build(by_descriptor, "*fp32, *fp32, i32", {}, target) for target in ("sm_80", "sm_90")]
    return [each.has(r"cp\.async\.bulk\.tensor") for each in made] == [False, True]


@triton.jit
def half_sum(x, y):
    tl.store(y, tl.sum(tl.load(x + tl.arange(0, 1024)), axis=0))


@fact("half-inputs")
def sums_in_halves() -> bool:
    return not build(half_sum, "*fp16, *fp16").has(r"add\S*f32")


@triton.jit
def transpose(x, y, n, m, TRANS: tl.constexpr):
    r, c = tl.program_id(0) * 32 + tl.arange(0, 32), tl.program_id(1) * 32 + tl.arange(0, 32)
    v = tl.load(x + r[:, None] * n + c[None, :])
    if TRANS:
        tl.store(y + c[:, None] * m + r[None, :], tl.trans(v))
    else:
        tl.store(y + c[None, :] * m + r[:, None], v)


@fact("transposed-stores")
def both_wide() -> bool:
    made = [build(transpose, "*fp32, *fp32, i32, i32", {"TRANS": t}) for t in (False, True)]
    return all(each.has(r"ld\.global\.v4") and each.has(r"st\.global\.v4") for each in made)


@triton.jit
def gated(x, w, v, y, N, K, BN: tl.constexpr):
    m, n = tl.program_id(0) * 128 + tl.arange(0, 128), tl.program_id(1) * BN + tl.arange(0, BN)
    one, two = tl.zeros((128, BN), tl.float32), tl.zeros((128, BN), tl.float32)
    for k in range(0, K, 64):
        i = k + tl.arange(0, 64)
        left = tl.load(x + m[:, None] * K + i[None, :])
        one = tl.dot(left, tl.load(w + i[:, None] * N + n[None, :]), one)
        two = tl.dot(left, tl.load(v + i[:, None] * N + n[None, :]), two)
    tl.store(y + m[:, None] * N + n[None, :], one * tl.sigmoid(one) * two)


@fact("gated-products")
def two_accumulators() -> bool:
    made = [build(gated, "*fp16, *fp16, *fp16, *fp32, i32, i32", {"BN": n}, num_warps=8) for n in (64, 128)]
    return made[0].registers <= 128 and not any(each.spills or "pendings = 0" in each.loop() for each in made)


@fact("thin-products")
def one_row() -> bool:
    return dot(BM=1, warps=4).has(r"mma\.sync\S*m16n8k16")


@triton.jit
def relu(x, y, KEEP: tl.constexpr):
    at = tl.arange(0, 128)
    v = tl.load(x + at)
    tl.store(y + at, tl.maximum(v, 0.0, propagate_nan=tl.PropagateNan.ALL) if KEEP else tl.maximum(v, 0.0))


@fact("nan-in-maximum")
def maxima() -> bool:
    return [build(relu, "*fp32, *fp32", {"KEEP": k}).has(r"max\.NaN\.f32") for k in (False, True)] == [False, True]
