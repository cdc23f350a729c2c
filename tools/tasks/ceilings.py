"""Child task: what plain kernels reach on the GPU, for nothing else is a ceiling that a kernel may be held against.

Contents are random, since matrix products of zeros draw less power and run faster. Every figure is the best of a few
runs that take about a millisecond each.
"""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import torch
import triton
import triton.language as tl

REPEATS, WARM = 12, 3
STREAM_BYTES = 1 << 30
L2_SHARE = 0.25
"""Of the second-level cache that is read again and again: small enough for either half of a divided one."""
L2_ROUNDS = 64
SIZE, SLOW_SIZE = 8192, 4096
"""Of the square product; the second for precisions without fast units."""
READS = ((4096, 8), (8192, 16), (2048, 4))
"""Elements of a block and warps."""
PRODUCTS = ((128, 128, 32, 8, 3), (128, 64, 32, 4, 4), (64, 64, 32, 4, 4))
"""Block, warps and stages."""


@triton.jit  # type: ignore[untyped-decorator]
def _read(x_ptr, out_ptr, blocks, rounds, BLOCK: tl.constexpr, KEEP_OUT: tl.constexpr):  # type: ignore[no-untyped-def]
    """Each program adds up every so-manieth block; in each round another program's, so that no first-level cache
    helps."""
    pid, programs = tl.program_id(0), tl.num_programs(0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for turn in range(rounds):
        for block in range((pid + turn * 37) % programs, blocks, programs):
            at = x_ptr + tl.cast(block, tl.int64) * BLOCK + tl.arange(0, BLOCK)
            if KEEP_OUT:
                total += tl.load(at, cache_modifier=".cg")
            else:
                total += tl.load(at)
    tl.store(out_ptr + pid, tl.sum(total))


@triton.jit  # type: ignore[untyped-decorator]
def _product(  # type: ignore[no-untyped-def]
    a_ptr, b_ptr, c_ptr, size, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr
):
    """C = A B', all three square and row-major, by three TF32 products of fp32 accuracy."""
    pid = tl.program_id(0)
    down, across = size // BM, size // BN
    first = pid // (GROUP * across) * GROUP
    high = min(down - first, GROUP)
    row, column = first + pid % (GROUP * across) % high, pid % (GROUP * across) // high
    rows, columns, depth = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN), tl.arange(0, BK)
    a = a_ptr + rows[:, None] * size + depth[None, :]
    b = b_ptr + columns[None, :] * size + depth[:, None]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(size // BK):
        total += tl.dot(tl.load(a), tl.load(b), input_precision="tf32x3")
        a += BK
        b += BK
    tl.store(c_ptr + rows[:, None] * size + columns[None, :], total)


def measure(payload: dict[str, Any]) -> dict[str, Any]:
    """`copy`, `read` and `l2` in bytes/s, `matrix` in FLOP/s by precision, and what is `missing` and why.

    Args:
        payload: `l2_bytes`, `memory_bytes`.
    """
    began = perf_counter()
    stream = min(STREAM_BYTES, payload["memory_bytes"] // 8)
    answer: dict[str, Any] = {
        "copy": copy_rate(stream),
        "read": read_rate(stream, rounds=1),
        "l2": read_rate(int(payload["l2_bytes"] * L2_SHARE), rounds=L2_ROUNDS),
    }
    matrix, missing = matrix_rates()
    return answer | {"matrix": matrix, "missing": missing, "repeats": REPEATS, "seconds": perf_counter() - began}


def copy_rate(size: int) -> float:
    """Bytes read and written a second when one half of so many is copied to the other."""
    source = torch.randn(size // 8, device="cuda")
    target = torch.empty_like(source)
    return 2 * source.nbytes / _seconds(lambda: target.copy_(source))


def read_rate(size: int, rounds: int) -> float:
    """Bytes read a second, so many of them, `rounds` times over. More than one round stays out of the first cache."""
    programs = 4 * torch.cuda.get_device_properties(0).multi_processor_count
    out = torch.empty(programs, device="cuda")
    best = 0.0
    for block, warps in READS:
        data = torch.randn(max(1, size // 4 // block) * block, device="cuda")

        def call(data: torch.Tensor = data, block: int = block, warps: int = warps) -> None:
            _read[(programs,)](
                data, out, data.numel() // block, rounds, BLOCK=block, KEEP_OUT=rounds > 1, num_warps=warps
            )

        best = max(best, rounds * data.nbytes / _seconds(call))
    return best


def matrix_rates() -> tuple[dict[str, float], dict[str, str]]:
    """FLOP/s of a square product in each precision, and why others could not be had."""
    tries: dict[str, Callable[[], float]] = {
        "fp32": lambda: _ieee(tf32=False, size=SLOW_SIZE),
        "tf32": lambda: _ieee(tf32=True, size=SIZE),
        "tf32x3": _three_products,
        "fp16": lambda: _half(torch.float16),
        "bf16": lambda: _half(torch.bfloat16),
        "fp8": _eighth,
        "int8": _integers,
    }
    rates: dict[str, float] = {}
    missing: dict[str, str] = {}
    for name, attempt in tries.items():
        try:
            rates[name] = attempt()
        except (RuntimeError, AttributeError, TypeError, NotImplementedError, triton.CompilationError) as error:
            missing[name] = (str(error).strip().splitlines() or [type(error).__name__])[0][:120]
        torch.cuda.empty_cache()
    return rates, missing


def _ieee(*, tf32: bool, size: int) -> float:
    torch.backends.cuda.matmul.allow_tf32 = tf32
    a, b = _pair(size, torch.float32)
    out = torch.empty_like(a)
    return _rate(size, lambda: torch.mm(a, b, out=out))


def _half(dtype: torch.dtype) -> float:
    a, b = _pair(SIZE, dtype)
    out = torch.empty_like(a)
    return _rate(SIZE, lambda: torch.mm(a, b, out=out))


def _eighth() -> float:
    """Summed as Triton sums, in the matrix units' own precision."""
    a, b = (part.to(torch.float8_e4m3fn) for part in _pair(SIZE, torch.float32))
    one = torch.ones((), device="cuda")

    def call() -> None:
        torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=True)

    return _rate(SIZE, call)


def _integers() -> float:
    a, b = (torch.randint(-128, 128, (SIZE, SIZE), dtype=torch.int8, device="cuda") for _ in range(2))
    return _rate(SIZE, lambda: torch._int_mm(a, b.t()))


def _three_products() -> float:
    a, b = _pair(SLOW_SIZE, torch.float32)
    out = torch.empty_like(a)
    best, why = 0.0, ""
    for bm, bn, bk, warps, stages in PRODUCTS:

        def call(bm: int = bm, bn: int = bn, bk: int = bk, warps: int = warps, stages: int = stages) -> None:
            grid = (SLOW_SIZE // bm * (SLOW_SIZE // bn),)
            _product[grid](a, b, out, SLOW_SIZE, BM=bm, BN=bn, BK=bk, GROUP=8, num_warps=warps, num_stages=stages)

        try:
            best = max(best, _rate(SLOW_SIZE, call))
        except (RuntimeError, triton.OutOfResources) as error:  # does not fit this GPU
            why = str(error)
    if not best:
        raise RuntimeError(why)
    return best


def _pair(size: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    a, b = (torch.randn(size, size, device="cuda", dtype=torch.float32).to(dtype) for _ in range(2))
    return a, b


def _rate(size: int, call: Callable[[], Any]) -> float:
    return 2.0 * size**3 / _seconds(call)


def _seconds(call: Callable[[], Any]) -> float:
    """Of the quickest of a few calls, by events."""
    for _ in range(WARM):
        call()
    torch.cuda.synchronize()
    times: list[float] = []
    for _ in range(REPEATS):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        start.record()
        call()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) / 1e3)
    return min(times)
