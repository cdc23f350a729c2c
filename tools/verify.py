"""Is a candidate right? It runs in one child and never sees what is expected; a trusted child compares its outputs."""

import os
import tempfile
from hashlib import sha256
from typing import Any, Literal

from egg.state.device import Device
from egg.state.evaluation import Accuracy, Evaluation, Status
from egg.state.problem import Problem
from egg.state.settings import Policy
from egg.tools.errors import CandidateError
from egg.tools.exclusive import shared as beside_other_checks
from egg.tools.folders import scratch_parent
from egg.tools.problem import sized_candidate, sized_source
from egg.tools.sandbox.client import Bounds, Reply, run
from egg.tools.shrink import resized
from egg.tools.store import Store

Depth = Literal["search", "quick", "confirm"]
KINDS: dict[Depth, tuple[str, ...]] = {
    "quick": ("own", "normal"),
    "search": ("own", "normal", "integers", "heavy"),
    "confirm": ("own", "normal", "integers", "heavy", "own", "normal", "heavy", "own"),
}
"""Distributions of the floating-point inputs, in order. Each has a secret seed of its own."""
VERSION = 3
SECONDS = 120.0
CPU_BYTES = 2 << 30
GPU_BYTES = 96 << 30


def check(
    problem: Problem,
    source: str,
    device: Device,
    policy: Policy,
    store: Store,
    *,
    cases: Depth = "search",
    seconds: float = SECONDS,
) -> Evaluation:
    """Correctness alone: at full size on the GPU, or at the small size in Triton's interpreter.

    `seconds` bounds all runs of the candidate together.

    Raises:
        UserError: no GPU, and no small size.
        MachineError: the trusted side failed.
    """

    def produce() -> Evaluation:
        try:
            sized = sized_candidate(problem, source, device)
            accuracy, feedback = _check(problem, sized, device, policy, KINDS[cases], seconds)
        except CandidateError as error:
            return Evaluation(status=error.status, feedback=error.feedback, mode=mode(device))
        if cases == "confirm" and device.present and problem.small_source:
            feedback = f"{feedback}\n{_held_out(problem, source, device, policy, seconds)}".strip()
        return Evaluation(status=Status.OK, feedback=feedback, mode=mode(device), accuracy=accuracy)

    key = {
        "problem": problem.digest,
        "sizes": sha256(sized_source(problem, device).encode()).hexdigest(),
        "source": source,
        "policy": policy.value,
        "gpu": [device.uuid, device.driver] if device.present else None,
        "software": device.software,
        "cases": KINDS[cases],
        "seconds": seconds,
        "version": VERSION,
    }
    return store.get("check", key, Evaluation, produce)


def probe(
    problem: Problem, source: str, device: Device, policy: Policy, kind: Literal["ones", "arange", "normal"]
) -> dict[str, Any]:
    """What a candidate and the reference give for inputs of one kind, side by side, for whoever repairs it.

    `status` and `feedback`, and for each output, if it ran, `place`, `shape`, `candidate` and `expected`: values at
    a few places.
    """
    shared = shared_payload(problem, device, policy) | {"cases": [{"kind": kind, "seed": secret()}]}
    try:
        sized = sized_candidate(problem, source, device)
        seen = _compared(shared, sized, device, SECONDS, "show", ghost=False)[1]
    except CandidateError as error:
        return {"kind": kind, "status": error.status.value, "feedback": error.feedback}
    return {"kind": kind, **seen}


def mode(device: Device) -> str:
    """Where candidates run."""
    return "gpu" if device.present else "interpreter"


def bounds(device: Device, seconds: float, folder: str | None = None) -> Bounds:
    """Limits of a child that runs a problem's tensors."""
    return Bounds(seconds=seconds, memory_bytes=GPU_BYTES if device.present else CPU_BYTES, folder=folder)


def shared_payload(problem: Problem, device: Device, policy: Policy) -> dict[str, Any]:
    """What the candidate's child and the trusted one must agree on."""
    return {
        "problem": sized_source(problem, device),
        "policy": policy.value,
        "device": "cuda" if device.present else "cpu",
        "seed": secret(),
    }


def secret() -> int:
    """A seed nobody can have prepared for."""
    return int.from_bytes(os.urandom(4), "little")


def candidate_failure(reply: Reply, device: Device) -> CandidateError:
    """The verdict on a candidate whose child did not finish."""
    if reply.value.get("type") == "CandidateError":
        return CandidateError(Status(reply.value["status"]), str(reply.value["feedback"]))
    if reply.state == "timeout":
        return CandidateError(Status.TIMEOUT, f"{reply.error}: an endless loop, a deadlock, or far too much work")
    if reply.state == "out_of_memory":
        return CandidateError(Status.OUT_OF_MEMORY, reply.error)
    if reply.error.endswith("code 0 unasked"):
        return CandidateError(Status.CHEAT, "the candidate ended its process before its outputs were taken")
    status = Status.GPU_FAULT if device.present and reply.state == "crashed" else Status.RUNTIME_ERROR
    return CandidateError(status, f"{reply.error}\n{reply.output[-1500:]}".strip())


def _check(
    problem: Problem, source: str, device: Device, policy: Policy, kinds: tuple[str, ...], seconds: float
) -> tuple[tuple[Accuracy, ...], str]:
    shared = shared_payload(problem, device, policy)
    shared["cases"] = [{"kind": kind, "seed": secret()} for kind in kinds]
    answer, verdict = _compared(shared, source, device, seconds, "compare", ghost=True)
    accuracy = tuple(Accuracy.model_validate(entry) for entry in verdict["accuracy"])
    if verdict["status"] != Status.OK:
        feedback = "\n".join(part for part in (verdict["feedback"], answer["weights"]) if part)
        raise CandidateError(Status(verdict["status"]), feedback)
    if answer["tampered"]:
        raise CandidateError(Status.CHEAT, f"the candidate replaces {', '.join(answer['tampered'])}")
    if answer["idle"]:
        raise CandidateError(
            Status.NOT_TRITON,
            "the output is the same without the candidate's Triton launches: PyTorch computes it"
            if answer["launches"]
            else "no Triton kernel is launched",
        )
    return accuracy, verdict["feedback"]


def _compared(
    shared: dict[str, Any], source: str, device: Device, seconds: float, task: str, *, ghost: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the candidate's child says, and what the trusted one says of its files."""
    interpret = not device.present
    with beside_other_checks(device), tempfile.TemporaryDirectory(prefix="egg-", dir=scratch_parent()) as folder:
        asked = {**shared, "source": source, "ghost": ghost}
        reply = run("egg.tools.tasks.candidate:run", asked, bounds(device, seconds, folder), interpret=interpret)
        if not reply.ok:
            raise candidate_failure(reply, device)
        answer = _well_formed(reply.value)
        told = {**shared, "answer": answer, "folder": folder}
        trusted = run(f"egg.tools.tasks.compare:{task}", told, bounds(device, 600), interpret=interpret)
    return answer, trusted.require("comparing outputs with the reference")


def _held_out(problem: Problem, source: str, device: Device, policy: Policy, seconds: float) -> str:
    """Whether it is right at sizes it was not written for: told, never held against it."""
    small = problem.model_copy(update={"source": problem.small_source})
    try:
        resized_source = resized(source, problem.source, problem.small_constants)
        _check(small, resized_source, device, policy, KINDS["quick"], seconds)
    except CandidateError as error:
        return f"held-out sizes {problem.small_constants}: {error.status}: {error.feedback}"
    return f"held-out sizes {problem.small_constants}: ok"


def _well_formed(answer: dict[str, Any]) -> dict[str, Any]:
    """The candidate's answer with every field that is read later; a forged one is found out here or by its files."""
    try:
        entry_keys = {"place", "shape", "dtype", "file", "odd"}
        lists = [case["outputs"] for case in answer["cases"]] + ([answer["again"]] if answer["again"] else [])
        for entry in (entry for entries in lists for entry in entries):
            if set(entry) != entry_keys or not all(isinstance(size, int) for size in entry["shape"]):
                raise ValueError
        mutated = [[int(n) for n in case["mutated"]] for case in answer["cases"]]
        return {
            "cases": [{"outputs": o["outputs"], "mutated": m} for o, m in zip(answer["cases"], mutated, strict=True)],
            "again": answer["again"],
            "idle": bool(answer["idle"]),
            "launches": int(answer["launches"]),
            "weights": str(answer["weights"])[:500],
            "tampered": [str(name)[:80] for name in answer["tampered"]],
        }
    except (KeyError, TypeError, ValueError) as error:
        raise CandidateError(Status.CHEAT, "the answer of the candidate's process is forged") from error
