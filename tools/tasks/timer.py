"""Worker task: one module, set up once, that times its forward pass whenever it is asked.

Primitives of the clock are taken before the candidate is loaded. A candidate shares this process, so a figure from
here is believed only beside a second clock and a physical floor, both looked at by the parent.
"""

import gc
from collections.abc import Callable, Generator
from time import perf_counter
from typing import Any

import torch

from egg.tools.errors import CandidateError
from egg.tools.tasks.faults import explain
from egg.tools.tasks.launches import Launches
from egg.tools.tasks.module import build_model, load_module, make_inputs, set_policy
from egg.tools.tasks.share import trace
from egg.tools.tasks.target import spanned_bytes, tensors_in

SETTLE_CALLS = 10
SETTLE_S = 0.1
BLOCK_WARMUP = 3
INPUT_SHARE = 0.15  # of the free memory, for all input sets together

Worker = Generator[dict[str, Any], dict[str, Any], None]


class CudaClock:
    """Event pairs on the current stream, and a host clock around the same call."""

    def __init__(self, flush_bytes: int) -> None:
        self.device = "cuda"
        self._sync, self._event = torch.cuda.synchronize, torch.cuda.Event
        self._flushed = torch.empty(max(flush_bytes, 1), dtype=torch.int8, device="cuda")

    def free_bytes(self) -> int:
        return int(torch.cuda.mem_get_info()[0])

    def sync(self) -> None:
        self._sync()

    def sample(self, call: Callable[[], Any], *, apart: bool) -> tuple[float, float]:
        """Milliseconds by events and by the host.

        Before the call the second-level cache is filled with other data. That write also covers the time the host takes
        to launch the first kernels, as in any program that keeps its GPU busy; `apart` waits for it first, so that the
        host's clock covers the call alone.
        """
        start, end = (self._event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        self._sync()
        self._flushed.zero_()
        if apart:
            self._sync()
        began = perf_counter()
        start.record()
        call()
        end.record()
        self._sync()
        return start.elapsed_time(end), (perf_counter() - began) * 1e3


class CpuClock:
    """The host's clock alone: lets the parent's side be tested where there is no GPU. Its figures are no result."""

    device = "cpu"

    def __init__(self, flush_bytes: int) -> None:
        pass

    def free_bytes(self) -> int:
        return 1 << 30

    def sync(self) -> None:
        pass

    def sample(self, call: Callable[[], Any], *, apart: bool) -> tuple[float, float]:
        began = perf_counter()
        call()
        spent = (perf_counter() - began) * 1e3
        return spent, spent


def serve(payload: dict[str, Any]) -> Worker:
    """Set up, say what the first call took, then answer each `{"samples": n, "apart": m}` with its figures; at the end
    perhaps `{"trace": true}`, with what a forward pass does on the GPU.

    Args:
        payload: `problem`, `source` (None: time the reference), `policy`, `seed`, `sets` (of inputs), `compile`
            (through torch.compile), `flush_bytes`, `clock` (`cuda` or `cpu`).

    Yields:
        First `first_ms`, `typical_ms`, `sets`; then `event_ms`, and `apart`: pairs of event and host milliseconds.

    Raises:
        CandidateError: the candidate raised, or asked for too much memory.
    """
    clock: CudaClock | CpuClock = (CpuClock if payload["clock"] == "cpu" else CudaClock)(payload["flush_bytes"])
    set_policy(payload["policy"])
    problem = load_module(payload["problem"], "problem")
    inputs = _input_sets(problem, payload, clock)
    try:
        with torch.no_grad():
            call = _caller(problem, payload, inputs, clock)
            began = perf_counter()
            call()
            clock.sync()
            first = (perf_counter() - began) * 1e3
            typical = _settle(call, clock)
            gc.collect()
            gc.disable()  # nor is it run between blocks: with PyTorch loaded it takes longer than many a block
            request = yield {"first_ms": first, "typical_ms": typical, "sets": len(inputs)}
            while not request.get("trace"):
                request = yield _block(call, clock, request["samples"], request["apart"])
            yield {"trace": trace(call, Launches()) if payload["clock"] == "cuda" else None}  # last: it slows launching
    except (CandidateError, GeneratorExit):
        raise
    except Exception as error:
        if payload["source"] is None:
            raise
        raise explain(error, payload["source"]) from error


def _input_sets(problem: Any, payload: dict[str, Any], clock: CudaClock | CpuClock) -> list[list[Any]]:
    """As many sets as asked for, or fewer where memory is short: contents and addresses change from call to call."""
    sets = [make_inputs(problem, payload["seed"], clock.device)]
    room = INPUT_SHARE * clock.free_bytes() / max(1, spanned_bytes(tensors_in(sets[0])))
    more = range(1, min(payload["sets"], 1 + int(room)))
    return sets + [make_inputs(problem, payload["seed"] + index, clock.device) for index in more]


def _caller(problem: Any, payload: dict[str, Any], inputs: list[list[Any]], clock: CudaClock | CpuClock) -> Any:
    """A function that runs the forward pass on the next set of inputs."""
    source = payload["source"]
    class_ = problem.Model if source is None else load_module(source, "candidate").ModelNew
    model: Callable[..., Any] = build_model(class_, problem, payload["seed"], clock.device)
    if payload["compile"]:
        import torch._inductor.config

        torch._inductor.config.compile_threads = 1  # no pool of helpers that outlives the measurement
        model = torch.compile(model)
    turn = 0

    def call() -> Any:
        nonlocal turn
        turn += 1
        return model(*inputs[turn % len(inputs)])

    return call


def _settle(call: Callable[[], Any], clock: CudaClock | CpuClock) -> float:
    """Warm up; milliseconds of a typical call."""
    times: list[float] = []
    began = perf_counter()
    while len(times) < SETTLE_CALLS or perf_counter() - began < SETTLE_S:
        times.append(clock.sample(call, apart=False)[0])
        if perf_counter() - began > 20 * SETTLE_S and len(times) >= 3:
            break
    return sorted(times)[len(times) // 2]


def _block(call: Callable[[], Any], clock: CudaClock | CpuClock, samples: int, apart: int) -> dict[str, Any]:
    for _ in range(BLOCK_WARMUP):
        call()
    clock.sync()
    events = [clock.sample(call, apart=False)[0] for _ in range(samples)]
    return {"event_ms": events, "apart": [clock.sample(call, apart=True) for _ in range(apart)]}
