"""A candidate's kernels, compiled for the target without a GPU, and what that tells of their speed."""

from typing import Any

from egg.state.device import Device
from egg.state.evaluation import Launch, StaticProfile, Status
from egg.state.problem import Problem
from egg.state.settings import Policy
from egg.tools.errors import CandidateError
from egg.tools.estimate import LAUNCH_MS, LaunchFacts, Prediction, TorchFacts, predict, predict_torch
from egg.tools.operators import computes
from egg.tools.sandbox.client import Bounds, Reply, run
from egg.tools.store import Store

VERSION = 3
BOUNDS = Bounds(seconds=180)
LEAST_MS = 0.0015
"""GPU time of the smallest kernel."""
KEPT = 64
"""Launches a profile lists; the estimate counts all of them."""

FAILURES = {
    "timeout": (Status.TIMEOUT, "compiling all kernels of one forward pass takes too long: fewer, smaller kernels"),
    "out_of_memory": (Status.OUT_OF_MEMORY, "compiling, or constructing the module, takes too much memory"),
    "crashed": (Status.COMPILE_ERROR, "the compiler crashed on a kernel"),
    "raised": (Status.RUNTIME_ERROR, "the forward pass could not be recorded"),
}


class Unfinished(CandidateError):
    """The recording did not come to an end; where the candidate is run, it may show better why."""


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
    return store.get("profile", key, StaticProfile, lambda: _profile(problem, source, device, policy))


def _profile(problem: Problem, source: str, device: Device, policy: Policy) -> StaticProfile:
    payload = {
        "problem": problem.source,
        "source": source,
        "policy": policy.value,
        "device": device.model_dump(mode="json"),
    }
    recorded = _answer(run("egg.tools.tasks.record:record", payload, BOUNDS))
    try:
        launches = [LaunchFacts.model_validate(facts) for facts in recorded["launches"]]
        operators = [TorchFacts.model_validate(facts) for facts in recorded["operators"]]
    except (KeyError, TypeError, ValueError) as error:
        raise CandidateError(Status.CHEAT, "what the candidate's process says of its launches is forged") from error
    predictions = [predict(device, launch) for launch in launches]
    torch_ms = [predict_torch(device, policy, op) for op in operators]
    for launch, prediction in zip(launches, predictions, strict=True):
        if prediction.occupancy.blocks == 0:
            raise CandidateError(Status.COMPILE_ERROR, f"not one block of {launch.kernel} fits a multiprocessor")
    return StaticProfile(
        target=device.target,
        launches=tuple(_launch(*both) for both in zip(launches[:KEPT], predictions[:KEPT], strict=True)),
        torch_ops=tuple(op.name for op in operators),
        torch_share=_torch_share(predictions, operators, torch_ms),
        estimate_ms=sum(prediction.ms for prediction in predictions) + sum(torch_ms),
        bottleneck=_bottleneck(predictions, torch_ms),
    )


def _answer(reply: Reply) -> dict[str, Any]:
    if reply.ok:
        return reply.value
    if failure := reply.candidate_error():
        raise failure
    status, meaning = FAILURES[reply.state]
    detail = "\n".join((reply.error or reply.output).strip().splitlines()[-6:])
    raise Unfinished(status, f"{meaning}\n{detail}".strip())


def _launch(launch: LaunchFacts, prediction: Prediction) -> Launch:
    return Launch(
        kernel=launch.kernel,
        grid=launch.grid,
        warps=launch.warps,
        stages=launch.stages,
        registers=launch.registers,
        spills=launch.spills,
        shared_bytes=launch.shared_bytes,
        occupancy=prediction.occupancy.fraction,
        limiter=prediction.occupancy.limiter,
        waves=prediction.waves,
        bytes=launch.bytes,
        tensor_core=launch.tensor_core,
        estimate_ms=prediction.ms,
    )


def _torch_share(predictions: list[Prediction], operators: list[TorchFacts], torch_ms: list[float]) -> float:
    """Of the predicted GPU time, without what launching costs the host. Copies and fills are on neither side."""
    own = sum(max(LEAST_MS, prediction.ms - LAUNCH_MS) for prediction in predictions)
    theirs = [ms for op, ms in zip(operators, torch_ms, strict=True) if computes(op.name)]
    other = sum(max(LEAST_MS, ms - LAUNCH_MS) for ms in theirs)
    return other / (own + other) if other else 0.0


def _bottleneck(predictions: list[Prediction], torch_ms: list[float]) -> str:
    """That of the longest launch, unless launching itself takes most of the time."""
    total = sum(prediction.ms for prediction in predictions) + sum(torch_ms)
    if not predictions or LAUNCH_MS * (len(predictions) + len(torch_ms)) > total / 2:
        return "launch"
    return max(predictions, key=lambda prediction: prediction.ms).bottleneck
