"""A candidate's kernels, compiled for the target without a GPU, and what that tells of their speed."""

from egg.state.device import Device
from egg.state.evaluation import Launch, StaticProfile, Status
from egg.state.problem import Problem
from egg.state.settings import Policy
from egg.tools.access import notes, widths
from egg.tools.errors import CandidateError
from egg.tools.estimate import LAUNCH_MS, Prediction, TorchFacts, predict, predict_torch
from egg.tools.facts import facts_of
from egg.tools.kernels import Unfinished as Unfinished
from egg.tools.launched import Seen
from egg.tools.operators import computes
from egg.tools.recording import Recording, record
from egg.tools.store import Store

VERSION = 8
LEAST_MS = 0.0015
"""GPU time of the smallest kernel."""
KEPT = 64
"""Kinds of launches a profile lists, those that take longest; the estimate counts all of them."""


def static_profile(problem: Problem, source: str, device: Device, policy: Policy, store: Store) -> StaticProfile:
    """Compile every launch of one forward pass at full size; registers, occupancy and a predicted time of each.

    Raises:
        CandidateError: the candidate does not construct, run on tensors without data, or compile for the target.
    """
    key = {
        "problem": problem.digest,
        "source": source,
        "policy": policy.value,
        "device": device.model_dump(mode="json", exclude={"present", "uuid", "driver", "rates_from"}),
        "version": VERSION,
    }
    return store.get("profile", key, StaticProfile, lambda: _profile(problem, source, device, policy, store))


def _profile(problem: Problem, source: str, device: Device, policy: Policy, store: Store) -> StaticProfile:
    recording = record(problem, source, device, policy, store)
    launches = [facts_of(seen, recording.kernel(seen)) for seen in recording.launches]
    operators = recording.operators
    predictions = [predict(device, launch) for launch in launches]
    torch_ms = [predict_torch(device, policy, op) for op in operators]
    for launch, prediction in zip(launches, predictions, strict=True):
        if prediction.occupancy.blocks == 0:
            raise CandidateError(Status.COMPILE_ERROR, f"not one block of {launch.kernel} fits a multiprocessor")
    calls = [seen.calls for seen in recording.launches]
    times = [n * on_gpu(prediction.ms) for n, prediction in zip(calls, predictions, strict=True)]
    kept = sorted(sorted(range(len(times)), key=lambda at: -calls[at] * predictions[at].ms)[:KEPT])
    return StaticProfile(
        target=device.target,
        launches=tuple(_launch(recording, recording.launches[at], predictions[at], source) for at in kept),
        torch_ops=tuple(op.name for op in operators),
        torch_share=_torch_share(sum(times), operators, torch_ms),
        torch_ms=sum(map(on_gpu, torch_ms)),
        unlisted_ms=sum(ms for at, ms in enumerate(times) if at not in kept),
        estimate_ms=sum(n * prediction.ms for n, prediction in zip(calls, predictions, strict=True)) + sum(torch_ms),
    )


def _launch(recording: Recording, seen: Seen, prediction: Prediction, source: str) -> Launch:
    kernel, flops = recording.kernel(seen), dict(seen.dots)
    if seen.elementwise:
        flops["fp32"] = flops.get("fp32", 0.0) + seen.elementwise
    loads = widths(kernel.loads, {line: both[0] for line, both in seen.by_line.items()})
    stores = widths(kernel.stores, {line: both[1] for line, both in seen.by_line.items()})
    return Launch(
        kernel=seen.kernel,
        grid=seen.grid,
        warps=kernel.warps,
        stages=seen.stages,
        registers=kernel.registers,
        spills=kernel.spills,
        shared_bytes=kernel.shared_bytes,
        occupancy=prediction.occupancy.fraction,
        limiter=prediction.occupancy.limiter,
        waves=prediction.waves,
        bytes=seen.bytes,
        tensor_core=kernel.tensor_core,
        estimate_ms=prediction.ms,
        calls=seen.calls,
        arguments=seen.arguments,
        options=seen.options,
        stack_bytes=kernel.stack_bytes,
        bulk=kernel.bulk,
        load_bits=loads.commonest,
        store_bits=stores.commonest,
        narrowest_load_bits=loads.narrowest,
        narrowest_store_bits=stores.narrowest,
        flops=flops,
        loaded_bytes=seen.load_bytes,
        stored_bytes=seen.store_bytes,
        guessed=seen.guessed,
        notes=notes(kernel, seen, recording.jobs[seen.job], source),
        configs=seen.configs,
    )


def on_gpu(predicted_ms: float) -> float:
    """GPU time of one launch, without what starting it costs the host."""
    return max(LEAST_MS, predicted_ms - LAUNCH_MS)


def _torch_share(own: float, operators: list[TorchFacts], torch_ms: list[float]) -> float:
    """Of the predicted GPU time. Copies and fills are on neither side."""
    other = sum(on_gpu(ms) for op, ms in zip(operators, torch_ms, strict=True) if computes(op.name))
    return other / (own + other) if other else 0.0
