"""Worker task: one module, set up once, that times its forward pass whenever it is asked.

Primitives of the clock are taken before the candidate is loaded. A candidate shares this process, so a figure from
here is believed only beside the parent's own clock, a second one here, outputs of timed calls and a physical floor,
all looked at elsewhere.
"""

import gc
import sys
from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any

import torch
import torch.profiler

from egg.tools.errors import CandidateError
from egg.tools.tasks import clocks, cover, inputs, share, tamper
from egg.tools.tasks.clocks import Clock, CpuClock, CudaClock
from egg.tools.tasks.faults import explain
from egg.tools.tasks.inputs import InputSet, InputSets
from egg.tools.tasks.launches import Launches
from egg.tools.tasks.module import build_model, load_module, set_policy, share_weights
from egg.tools.tasks.raw import dump
from egg.tools.tasks.share import trace
from egg.tools.tasks.spans import spanned_bytes, tensors_in
from egg.tools.tasks.tamper import Tampering
from egg.tools.tasks.timed import compare_timed

SETTLE_CALLS = 10
SETTLE_S = 0.1
INPUT_SHARE = 0.15  # of the free memory, for all input sets together

Worker = Generator[dict[str, Any], dict[str, Any], None]


def serve(payload: dict[str, Any]) -> Worker:
    """Set up, say how long a call takes, then answer requests.

    Args:
        payload: `problem`, `source` (None: time the reference), `policy`, `seed`, `sets` (of inputs), `compile` (a mode
            of torch.compile, or None), `flush_bytes`, `clock` (`cuda` or `cpu`).

    Yields:
        First `typical_ms` of a call, number of `sets`, `output_bytes` and `held_bytes`. Then for `{"do": "block",
        "warmup", "apart", "samples"}` the `event_ms` of the samples and `apart`: pairs of event and host milliseconds;
        for `{"do": "keep", "name"}` the files' entries of the last sample's `outputs`; for `{"do": "tampered"}` the
        `names` of what was replaced meanwhile; for `{"do": "trace"}` what a forward pass does on the GPU; for
        `{"do": "warm_ms", "samples"}` and `{"do": "graph_ms", "samples"}` `ms`, None where it cannot be had; and from
        the reference, for `{"do": "compare", ...}`, what `compare_timed` says of a candidate's outputs.

    Raises:
        CandidateError: the candidate raised, or asked for too much memory.
    """
    clock: Clock = (CpuClock if payload["clock"] == "cpu" else CudaClock)(payload["flush_bytes"])
    set_policy(payload["policy"])
    problem = load_module(payload["problem"], "problem")
    first = InputSet(problem, payload["seed"], clock.device)
    own = (sys.modules[__name__], Bench, clocks, cover, type(clock), inputs, InputSet, InputSets, share, tamper)
    tampering = Tampering(*own, Tampering, torch.profiler, torch.profiler.profile)
    try:
        with torch.no_grad():
            bench = Bench(_model(problem, payload, clock.device), _sets(problem, first, payload, clock), clock)
            answer = bench.settle()
            gc.collect()
            gc.disable()  # nor is it run between blocks: with PyTorch loaded it takes longer than many a block
            while True:
                request = yield answer
                if request["do"] == "compare" and payload["source"] is None:
                    answer = compare_timed(payload | request, clock.device)
                    gc.collect()
                elif request["do"] == "tampered":
                    answer = {"names": tampering.found()}
                else:
                    answer = bench.answer(request)
    except (CandidateError, GeneratorExit):
        raise
    except Exception as error:
        if payload["source"] is None:
            raise
        raise explain(error, payload["source"]) from error


def _sets(problem: ModuleType, first: InputSet, payload: dict[str, Any], clock: Clock) -> InputSets:
    """As many as asked for, or fewer where memory is short."""
    room = INPUT_SHARE * clock.free_bytes() / max(1, spanned_bytes(tensors_in(first.inputs)))
    count = max(1, min(payload["sets"], 1 + int(room)))
    return InputSets(problem, payload["seed"], first, count, clock.device)


def _model(problem: ModuleType, payload: dict[str, Any], device: str) -> Callable[..., Any]:
    model = build_model(problem.Model, problem, payload["seed"], device)
    if payload["source"] is not None:
        weights = model.state_dict()
        del model
        model = build_model(load_module(payload["source"], "candidate").ModelNew, problem, payload["seed"], device)
        share_weights(model, weights)
    if payload["compile"] is None:
        return model
    import torch._inductor.config

    torch._inductor.config.compile_threads = 1  # no pool of helpers that outlives the measurement
    compiled: Callable[..., Any] = torch.compile(model, mode=payload["compile"])
    return compiled


class Bench:
    """Calls of one model on inputs that change, under a clock."""

    def __init__(self, model: Callable[..., Any], sets: InputSets, clock: Clock) -> None:
        self.model, self.sets, self.clock = model, sets, clock
        self.output: Any = None
        self.given: list[Any] = []

    def settle(self) -> dict[str, Any]:
        """Call until times are steady. The sets stay as they were made: how many calls this takes nobody can know."""
        calls = 0

        def call() -> None:
            self.output = self.model(*self.sets.sets[calls % len(self.sets.sets)].inputs)

        call()
        self.clock.sync()
        times: list[float] = []
        began = perf_counter()
        while len(times) < SETTLE_CALLS or perf_counter() - began < SETTLE_S:
            calls += 1
            times.append(self.clock.sample(call, apart=False)[0])
            if perf_counter() - began > 20 * SETTLE_S and len(times) >= 3:
                break
        return {
            "typical_ms": sorted(times)[len(times) // 2],
            "sets": len(self.sets.sets),
            "output_bytes": spanned_bytes(tensors_in([self.output])),
            "held_bytes": self.clock.held_bytes(),
        }

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """What `serve` yields for a request."""
        if request["do"] == "block":
            return self.block(request["warmup"], request["apart"], request["samples"])
        if request["do"] == "keep":
            return {"outputs": dump(self.output, Path.cwd(), request["name"])}
        if request["do"] == "warm_ms":
            return {"ms": self.clock.warm(self._call, request["samples"])}
        if request["do"] == "graph_ms":
            return {"ms": self.graph_ms(request["samples"])}
        if request["do"] == "trace":
            with closing(Launches()) as launches:
                return {"trace": trace(self._call, launches) if self.clock.device == "cuda" else None}
        if request["do"] == "ping":
            return {}
        raise ValueError(f"no such request: {request['do']}")

    def block(self, warmup: int, apart: int, samples: int) -> dict[str, Any]:
        """Calls one after the other, in this order."""
        for _ in range(warmup):
            self._sample(apart=False)
        both = [self._sample(apart=True) for _ in range(apart)]
        return {"apart": both, "event_ms": [self._sample(apart=False)[0] for _ in range(samples)]}

    def _sample(self, *, apart: bool) -> tuple[float, float]:
        self.given = self.sets.next()
        return self.clock.sample(self._call, apart=apart)

    def _call(self) -> None:
        self.output = self.model(*self.given)

    def graph_ms(self, samples: int) -> float | None:
        """Median of replays of the call as a CUDA graph, with a cold cache. A failed capture may spoil the process."""
        replay = self.clock.captured(self._call)
        if replay is None:
            return None
        times = sorted(self.clock.sample(replay, apart=False)[0] for _ in range(samples))
        return times[len(times) // 2]
