"""Worker task: KernelBench's own protocol, at the commit that `state.stock` names, followed step by step.

Written from its description. It trusts the candidate, which is loaded into the very process that compares and times:
by design a cheat fools it here as it would there. Nothing that is concluded from it decides anything.
"""

from collections.abc import Generator
from types import ModuleType
from typing import Any

import torch

from egg.tools.tasks.libdevice import teach_interpreter
from egg.tools.tasks.module import init_inputs, load_module, set_policy
from egg.tools.tasks.quick import make_quick

Json = dict[str, Any]

SEED = 42
TRIALS = 5
WARMUP_CALLS = 3
TIMED_CALLS = 100
DISCARDED = 1
FLUSH_SHAPE = (32, 1024, 1024)  # of int64: 256 MB
TOLERANCES = {torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 1e-2}
DIGITS = ".3g"


def serve(payload: Json) -> Generator[Json, Json, None]:
    """Say whether it counts as correct, then, asked for it, what its times are.

    Args:
        payload: `problem` and `source` (texts), `device`.

    Yields:
        `correct`, `passed`, `tolerance`, `note`; then `candidate_ms` and `reference_ms`, or `note` if timing fails.
    """
    device = payload["device"]
    if device == "cpu":
        teach_interpreter()
        make_quick()
    set_policy("stock")
    problem = load_module(payload["problem"], "problem")
    dtype = precision(problem)
    answer: Json = {"correct": False, "passed": 0, "tolerance": TOLERANCES[dtype], "note": ""}
    try:
        reference, candidate = _models(problem, payload["source"], device, dtype)
        answer |= _correct(problem, reference, candidate, device, dtype)
    except Exception as error:
        answer["note"] = _line(error)
    yield answer
    if answer["correct"] and device == "cuda":
        try:
            # With gradients recorded, as there: only the comparison is made without.
            mine = mean_ms(_times(candidate, _inputs(problem, SEED, device, dtype)))
            theirs = mean_ms(_times(reference, _inputs(problem, SEED, device, dtype)))
            yield {"candidate_ms": mine, "reference_ms": theirs}
        except Exception as error:
            yield {"note": f"timing: {_line(error)}"}


def precision(problem: ModuleType) -> torch.dtype:
    """The type a run would ask for: the problem's own, where that is one of the three, else float32."""
    try:
        with torch.device("meta"):  # the real ones may be gigabytes
            values = problem.get_inputs()
    except (RuntimeError, TypeError):
        values = problem.get_inputs()
    types = {value.dtype for value in values if isinstance(value, torch.Tensor)}
    halves = [dtype for dtype in (torch.bfloat16, torch.float16) if dtype in types]
    return torch.float32 if torch.float32 in types or not halves else halves[0]


def trial_seeds() -> list[int]:
    """One seed a trial, all of them known to whoever knows the protocol."""
    torch.manual_seed(SEED)
    return [int(torch.randint(0, 2**32 - 1, (1,)).item()) for _ in range(TRIALS)]


def mean_ms(times: list[float]) -> float:
    """Arithmetic mean to three significant digits."""
    return float(format(sum(times) / len(times), DIGITS))


def _models(
    problem: ModuleType, source: str, device: str, dtype: torch.dtype
) -> tuple[torch.nn.Module, torch.nn.Module]:
    """Both with the weights of the same seed, drawn on the CPU in the order of their construction."""
    torch.manual_seed(SEED)
    args, keywords = init_inputs(problem)
    args = [_cast(value, device, dtype) for value in args]
    with torch.no_grad():
        torch.manual_seed(SEED)
        reference = problem.Model(*args, **keywords)
        class_ = load_module(source, "candidate").ModelNew
        torch.manual_seed(SEED)
        candidate = class_(*args, **keywords)
        return reference.to(device=device, dtype=dtype), candidate.to(device=device, dtype=dtype)


def _correct(
    problem: ModuleType, reference: torch.nn.Module, candidate: torch.nn.Module, device: str, dtype: torch.dtype
) -> Json:
    """Every trial: the reference first, then the candidate, on the same tensors."""
    passed, tolerance, notes = 0, TOLERANCES[dtype], []
    with torch.no_grad():
        for seed in trial_seeds():
            inputs = _inputs(problem, seed, device, dtype)
            torch.manual_seed(seed)
            try:
                expected = reference(*inputs)
                _wait(device)
            except Exception as error:
                return {"passed": passed, "note": f"the reference itself fails: {_line(error)}"}
            try:
                found = candidate(*inputs)
                _wait(device)
                if expected.shape != found.shape:
                    said = f"shape {list(found.shape)} instead of {list(expected.shape)}"
                    return {"passed": passed, "note": said}
                if torch.allclose(expected, found, atol=tolerance, rtol=tolerance):
                    passed += 1
                else:
                    notes.append(f"greatest difference {float((expected - found).abs().max()):.3g}")
            except Exception as error:
                return {"passed": passed, "note": _line(error)}
    return {"correct": passed == TRIALS, "passed": passed, "note": notes[0] if notes else ""}


def _times(model: torch.nn.Module, inputs: list[Any]) -> list[float]:
    """Milliseconds by an event pair around each call, the second-level cache overwritten before it."""
    for _ in range(WARMUP_CALLS):
        model(*inputs)
        torch.cuda.synchronize()
    torch.cuda.empty_cache()
    times: list[float] = []
    for _ in range(TIMED_CALLS + DISCARDED):
        torch.cuda.synchronize()
        start = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        end = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        flush = torch.empty(FLUSH_SHAPE, dtype=torch.int64, device="cuda")
        flush.fill_(SEED)
        del flush
        start.record()
        model(*inputs)
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return times[DISCARDED:]


def _inputs(problem: ModuleType, seed: int, device: str, dtype: torch.dtype) -> list[Any]:
    """Drawn on the CPU; every tensor is cast, masks and indices too."""
    torch.manual_seed(seed)
    return [_cast(value, device, dtype) for value in problem.get_inputs()]


def _cast(value: Any, device: str, dtype: torch.dtype) -> Any:
    return value.to(dtype=dtype).to(device=device) if isinstance(value, torch.Tensor) else value


def _wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def _line(error: BaseException) -> str:
    text = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {text}"[:300]
