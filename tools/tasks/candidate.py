"""Child task: run a candidate on every case and leave its outputs as files. What it answers is never trusted."""

from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from egg.state.evaluation import Status
from egg.tools.errors import CandidateError
from egg.tools.tasks.access import OutOfBounds, watch_memory
from egg.tools.tasks.cases import case_inputs
from egg.tools.tasks.faults import explain
from egg.tools.tasks.launches import Launches
from egg.tools.tasks.libdevice import teach_interpreter
from egg.tools.tasks.module import build_model, load_module, set_policy, set_seed, share_weights
from egg.tools.tasks.quick import make_quick
from egg.tools.tasks.raw import dump, leaves
from egg.tools.tasks.tamper import Tampering

POISON_BYTES = 4 << 30
SLOW_SECONDS = 2.0
GPU_FAULTS = ("illegal memory access", "misaligned address", "illegal instruction", "unspecified launch failure")
GPU_FAULT_MORE = ("device-side assert", "CUDA error", "an illegal")


def run(payload: dict[str, Any]) -> dict[str, Any]:
    """Outputs of `source` for each of `cases`, in files of the working folder.

    Args:
        payload: `problem` and `source` (texts), `policy`, `device`, `seed` of the weights, `cases`, `ghost`: whether
            to run once more with all launches left out.

    Returns:
        `cases`: the entries of `raw.dump` and the `mutated` inputs of each; `again`: those of case 0 run a second
        time if they were not the same; `idle`: whether leaving the launches out changed nothing; `launches`,
        `weights`, `tampered`.

    Raises:
        CandidateError: whatever the candidate raised, with the line of its source.
    """
    device, source = payload["device"], payload["source"]
    if device == "cpu":
        watch_memory()
        teach_interpreter()
        make_quick()
    tampering, launches, synchronize = Tampering(), Launches(), torch.cuda.synchronize
    problem = load_module(payload["problem"], "problem")
    reference = build_model(problem.Model, problem, payload["seed"], device)
    try:
        model, weights = _construct(payload, problem, reference)
        del reference
        with torch.no_grad():
            answer = Runs(model, problem, payload, launches, synchronize if device == "cuda" else lambda: None).all()
    except CandidateError:
        raise
    except Exception as error:
        raise _verdict(error, source) from error
    return {**answer, "weights": weights, "launches": launches.count, "tampered": tampering.found()}


def _construct(payload: dict[str, Any], problem: ModuleType, reference: torch.nn.Module) -> tuple[torch.nn.Module, str]:
    candidate = load_module(payload["source"], "candidate")
    if not isinstance(getattr(candidate, "ModelNew", None), type):
        raise CandidateError(Status.REJECTED, "no class ModelNew is defined")
    set_policy(payload["policy"])
    model = build_model(candidate.ModelNew, problem, payload["seed"], payload["device"])
    if share_weights(model, reference):
        return model, ""
    ours, theirs = set(model.state_dict()), set(reference.state_dict())
    missing, extra = sorted(theirs - ours), sorted(ours - theirs)
    return model, f"parameters differ from the reference's: missing {missing}, additional {extra}"


class Runs:
    """Calls of one model on inputs that keep their addresses and change their contents."""

    def __init__(
        self, model: torch.nn.Module, problem: ModuleType, payload: dict[str, Any], launches: Launches, wait: Any
    ) -> None:
        self.model, self.problem, self.launches, self.wait = model, problem, launches, wait
        self.cases, self.device, self.ghost = payload["cases"], payload["device"], payload["ghost"]
        self.folder = Path.cwd()
        self.inputs: list[Any] = []
        self.sizes: list[int] = []
        self.seconds = 0.0

    def all(self) -> dict[str, Any]:
        """Every case, then the first again, then the last without launches."""
        entries, kept = [], []
        for number, case in enumerate(self.cases):
            output, mutated = self._call(case)
            entries.append({"outputs": dump(output, self.folder, f"case-{number}"), "mutated": mutated})
            # The outputs stay alive, so that no later allocation finds them again in freed memory.
            kept.append((output, _copies(output)) if number in (0, len(self.cases) - 1) else None)
        assert kept[0] and kept[-1]
        if self.device == "cpu" and self.seconds > SLOW_SECONDS:
            # Interpreted programs run in order; what a slow one would show by a second run is not worth the wait.
            return {"cases": entries, "again": None, "idle": self.ghost and self._idle(self.cases[0], kept[0][1])}
        output, _ = self._call(self.cases[0])
        again = None if _same(output, kept[0][1]) else dump(output, self.folder, "again")
        return {"cases": entries, "again": again, "idle": self.ghost and self._idle(self.cases[-1], kept[-1][1])}

    def _idle(self, case: dict[str, Any], honest: list[torch.Tensor]) -> bool:
        """Whether a case gives the same without launches. Not the last one run: a reused buffer would still hold it."""
        if not self.launches.count:
            return True
        self.launches.off = True
        try:
            output, _ = self._call(case)
        except Exception:  # whatever it is, the launches mattered
            return False
        finally:
            self.launches.off = False
        return _same(output, honest)

    def _call(self, case: dict[str, Any]) -> tuple[Any, list[int]]:
        self._refill(case_inputs(self.problem, case, self.device))
        before = _copies(self.inputs)
        _poison(self.sizes or [tensor.nbytes for tensor in before], self.device)
        set_seed(case["seed"], self.device)
        began = perf_counter()
        output = self.model(*self.inputs)
        self.wait()
        self.seconds = perf_counter() - began
        tensors = [tensor for _, tensor in leaves(output)]
        self.sizes = [tensor.nbytes for tensor in tensors]
        now = [leaf for leaf in tree_leaves(self.inputs) if isinstance(leaf, torch.Tensor)]
        mutated = [n for n, (old, new) in enumerate(zip(before, now, strict=True)) if not _bits_equal(old, new)]
        return output, mutated

    def _refill(self, fresh: list[Any]) -> None:
        """New contents at the old addresses: whoever keys a cache by address is found out."""
        if len(self.inputs) != len(fresh):
            self.inputs = fresh
            return
        for place, (old, new) in enumerate(zip(self.inputs, fresh, strict=True)):
            alike = isinstance(old, torch.Tensor) and isinstance(new, torch.Tensor) and old.shape == new.shape
            if alike and old.dtype == new.dtype and old.stride() == new.stride():
                old.copy_(new)
            else:
                self.inputs[place] = new


def _copies(value: Any) -> list[torch.Tensor]:
    return [leaf.detach().clone() for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def _same(value: Any, copies: list[torch.Tensor]) -> bool:
    tensors = [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]
    return len(tensors) == len(copies) and all(map(_bits_equal, tensors, copies))


def _bits_equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    bits = [tensor.detach().contiguous().reshape(-1).view(torch.uint8) for tensor in (one, other)]
    return not bool((bits[0] ^ bits[1]).any())


def _poison(sizes: list[int], device: str) -> None:
    """Leave NaN in memory that the next allocations are likely to get."""
    sizes = [size for size in sizes if size <= POISON_BYTES]
    blocks = [torch.full((size,), 0xFF, dtype=torch.uint8, device=device) for size in sizes for _ in range(2)]
    del blocks


def _verdict(error: BaseException, source: str) -> CandidateError:
    text = str(error)
    while type(error).__name__ == "InterpreterError" and error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, MemoryError | torch.OutOfMemoryError) or "can't allocate memory" in text:
        return CandidateError(Status.OUT_OF_MEMORY, text.splitlines()[0] if text else "out of memory")
    assert isinstance(error, Exception)
    told = explain(error, source)
    if isinstance(error, OutOfBounds):
        return CandidateError(Status.RUNTIME_ERROR, told.feedback)
    if any(sign in text for sign in (*GPU_FAULTS, *GPU_FAULT_MORE)):
        return CandidateError(Status.GPU_FAULT, told.feedback)
    if isinstance(error, ImportError):
        return CandidateError(Status.COMPILE_ERROR, told.feedback)
    return told
