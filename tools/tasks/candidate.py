"""Worker task: a candidate that is called when it is told to and leaves its outputs as files.

What it answers is never trusted. Not in this process: expected outputs, seeds of calls to come, and, once its weights
have been taken over, the problem's model. What cannot be had: nobody can keep a candidate from carrying a copy of the
model in its own source, or from reading in this process's memory what the inputs of the present call were made from.
Whether Triton does the work is therefore looked at apart (`replay`), and what a file says is compared elsewhere.
"""

import gc
import sys
from collections.abc import Generator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any

import torch
from triton.runtime.interpreter import GridExecutor, InterpretedFunction

from egg.state.evaluation import Status
from egg.tools.errors import CandidateError
from egg.tools.tasks import cases, memory, module, weights
from egg.tools.tasks.access import OutOfBounds, watch_memory
from egg.tools.tasks.cases import case_inputs
from egg.tools.tasks.faults import explain, out_of_memory, words_of
from egg.tools.tasks.launches import Launches
from egg.tools.tasks.libdevice import teach_interpreter
from egg.tools.tasks.memory import digests, poison, tensors_of
from egg.tools.tasks.module import build_model, load_inputs, load_module, set_policy, set_seed, share_weights
from egg.tools.tasks.noted import Noted, watch_launches
from egg.tools.tasks.quick import make_quick
from egg.tools.tasks.raw import count, dump
from egg.tools.tasks.replay import replay
from egg.tools.tasks.tamper import Tampering
from egg.tools.tasks.weights import Weights

KEPT_BYTES = 4 << 30
"""Outputs are kept alive up to this, so that no later allocation finds them again in freed memory."""
RESERVED_BYTES = 8 << 30
GPU_FAULTS = ("illegal memory access", "misaligned address", "illegal instruction", "unspecified launch failure")
GPU_FAULT_MORE = ("device-side assert", "CUDA error", "an illegal")

Json = dict[str, Any]


def serve(payload: Json) -> Generator[Json, Json, None]:
    """Set the candidate up, then answer messages.

    Args:
        payload: `problem` and `source` (texts), `policy`, `device`, `seed` of the weights.

    Yields:
        First `weights`: "" or how its state differs from the reference's, and the `parameters`' names. Then for
        `{"do": "call", "name", "case", "poison", "fresh", "most", "data"}` the entries of `outputs` (`most` of them at
        most), of updated `buffers` and of `changed` inputs, numbers of these (`mutated`), the `work` that was noted and
        `seconds`; for `{"do": "replay", "case", "poison", "fresh", "most"}` what `replay.replay` found. Always
        `launches` and `tampered`.

    Raises:
        CandidateError: whatever the candidate raised, with the line of its source.
    """
    device, source = payload["device"], payload["source"]
    if device == "cpu":
        watch_memory()
        teach_interpreter()
        make_quick()
    noted = _watched() if device == "cpu" else None  # within what sees launches: a grid is the candidate's to compute
    launches = Launches()
    tampering = Tampering(sys.modules[__name__], Calls, cases, memory, module, weights, Weights)
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    problem = load_inputs(payload)
    # A state_dict holds tensors and names alone: nothing of it leads back to the model.
    shared = build_model(
        load_module(payload["problem"], "problem").Model, problem, payload["seed"], device
    ).state_dict()
    try:
        model, differs = _construct(payload, problem, shared)
        del shared
        calls = Calls(model, problem, device, launches, wait, noted)
        names = sorted(name for name, _ in model.named_parameters())
        answer: Json = {"weights": differs, "parameters": names}
        while True:
            message = yield {**answer, "launches": launches.count, "tampered": tampering.found()}
            with torch.no_grad():
                answer = calls.answer(message)
    except (CandidateError, GeneratorExit):
        raise
    except Exception as error:
        raise _verdict(error, source) from error


def _construct(payload: Json, problem: ModuleType, shared: dict[str, torch.Tensor]) -> tuple[torch.nn.Module, str]:
    # The problem's model goes before the candidate comes.
    Path("problem.py").unlink(missing_ok=True)
    sys.modules.pop("problem", None)
    payload.pop("problem")
    gc.collect()
    candidate = load_module(payload["source"], "candidate")
    if not isinstance(getattr(candidate, "ModelNew", None), type):
        raise CandidateError(Status.REJECTED, "no class ModelNew is defined")
    set_policy(payload["policy"])
    model = build_model(candidate.ModelNew, problem, payload["seed"], payload["device"])
    if share_weights(model, shared):
        return model, ""
    ours, theirs = set(model.state_dict()), set(shared)
    missing, extra = sorted(theirs - ours), sorted(ours - theirs)
    return model, f"parameters differ from the reference's: missing {missing}, additional {extra}"


class Calls:
    """Calls of one model, on inputs that keep their addresses and change their contents, or have new addresses."""

    def __init__(
        self,
        model: torch.nn.Module,
        problem: ModuleType,
        device: str,
        launches: Launches,
        wait: Any,
        noted: Noted | None,
    ) -> None:
        self.model, self.problem, self.device, self.launches, self.wait = model, problem, device, launches, wait
        self.noted = noted
        self.weights = Weights(model)
        self.folder = Path.cwd()
        self.inputs: list[Any] = []
        self.sizes: list[int] = []
        self.seconds = 0.0
        self.kept: list[Any] = []
        self.kept_bytes = 0
        self.first: list[torch.Tensor] = []

    def answer(self, message: Json) -> Json:
        """What one message asks for."""
        if message["do"] == "replay":
            honest = self.first or _copies(self._call(message, nullcontext())[0])
            run = replay(lambda within: self._call(message, within)[0], honest, self.launches)
            return {"replay": run}
        output, mutated = self._call(message, self.noted.forward() if self.noted else nullcontext())
        name, data = message["name"], message["data"]
        answer = {
            "outputs": dump(output, self.folder, name, self.inputs, self.kept, data=data),
            "buffers": dump(self.weights.updated(), self.folder, f"{name}-buffers", data=data),
            "mutated": mutated,
            "changed": dump(self._changed(mutated), self.folder, f"{name}-inputs", data=data),
            "work": sorted(self.noted.done) if self.noted else [],
            "seconds": self.seconds,
            "digest": str(digests(output)),
        }
        self._keep(output)
        if self.device == "cuda" and torch.cuda.memory_reserved() > RESERVED_BYTES:
            torch.cuda.empty_cache()  # the referee needs the memory now
        return answer

    def _call(self, message: Json, within: AbstractContextManager[Any]) -> tuple[Any, list[int]]:
        case = message["case"]
        self.weights.put(case["weights"], case["seed"])
        self._refill(case_inputs(self.problem, case, self.device), message["fresh"])
        before = digests(self.inputs)
        poison(self.sizes or [tensor.nbytes for tensor in tensors_of(self.inputs)], self.device, message["poison"])
        set_seed(case["draw"], self.device)
        began = perf_counter()
        with within:
            output = self.model(*self.inputs)
            self.wait()
        self.seconds = perf_counter() - began
        most = message["most"]
        if count(output, most) > most:
            said = f"the result has more than {most} parts, many times as many as the reference's"
            raise CandidateError(Status.WRONG_SHAPE, said)
        self.sizes = [_bytes(tensor) for tensor in tensors_of(output)]
        mutated = [n for n, (old, new) in enumerate(zip(before, digests(self.inputs), strict=True)) if old != new]
        return output, mutated

    def _changed(self, mutated: list[int]) -> dict[str, torch.Tensor]:
        inputs = tensors_of(self.inputs)
        return {str(number): inputs[number] for number in mutated}

    def _keep(self, output: Any) -> None:
        size = sum(self.sizes)
        if not self.kept and 2 * size <= KEPT_BYTES:
            self.first = _copies(output)
        if self.kept_bytes + size <= KEPT_BYTES:
            self.kept.append(output)
            self.kept_bytes += size

    def _refill(self, made: list[Any], fresh: bool) -> None:
        """New contents at the old addresses: whoever keys a cache by address is found out. Or both new, if `fresh`."""
        if fresh or len(self.inputs) != len(made):
            self.kept.append(self.inputs)  # alive, so that the new ones lie elsewhere
            self.inputs = made
            return
        for place, (old, new) in enumerate(zip(self.inputs, made, strict=True)):
            alike = isinstance(old, torch.Tensor) and isinstance(new, torch.Tensor) and old.shape == new.shape
            if alike and old.dtype == new.dtype and old.stride() == new.stride():
                old.copy_(new)
            else:
                self.inputs[place] = new


def _watched() -> Noted:
    """Notes of what forward passes do; what the interpreter itself does is not among them."""
    noted = Noted()
    watch_launches(noted, InterpretedFunction)
    start: Any = GridExecutor.__call__

    def interpret(executor: Any, *args: Any, **kwargs: Any) -> Any:
        with noted.aside():
            return start(executor, *args, **kwargs)

    GridExecutor.__call__ = interpret
    return noted


def _bytes(tensor: torch.Tensor) -> int:
    return tensor.numel() * tensor.element_size()


def _copies(value: Any) -> list[torch.Tensor]:
    return [tensor.detach().clone() for tensor in tensors_of(value)]


def _verdict(error: BaseException, source: str) -> CandidateError:
    text = words_of(error)
    while type(error).__name__ == "InterpreterError" and error.__cause__ is not None:
        error = error.__cause__
    if out_of_memory(error):
        return CandidateError(Status.OUT_OF_MEMORY, text.splitlines()[0] if text else "out of memory")
    assert isinstance(error, Exception)
    told = explain(error, source)
    if isinstance(error, OutOfBounds):
        return _as(told, Status.RUNTIME_ERROR)
    if any(sign in text for sign in (*GPU_FAULTS, *GPU_FAULT_MORE)):
        return _as(told, Status.GPU_FAULT)
    if isinstance(error, ImportError):
        return _as(told, Status.COMPILE_ERROR)
    return told


def _as(told: CandidateError, status: Status) -> CandidateError:
    return CandidateError(status, told.feedback, [fault.model_copy(update={"kind": status}) for fault in told.faults])
