"""KernelBench's own verdict on a kernel, to stand beside ours. A cheat fools it; that is what it is shown for."""

from typing import Any

from pydantic import ValidationError

from egg.state.device import Device
from egg.state.errors import MachineError, UserError
from egg.state.problem import Problem
from egg.state.stock import StockVerdict
from egg.tools.errors import CandidateError
from egg.tools.exclusive import exclusive, shared
from egg.tools.problem import sized_candidate, sized_source
from egg.tools.sandbox.client import Bounds, Worker, open_worker
from egg.tools.stock_checker import checker_errors

SECONDS = 180.0
"""Its own limit for one kernel."""
CPU_BYTES, GPU_BYTES = 3 << 30, 120 << 30
EXCESSIVE = 10.0


def stock_verdict(problem: Problem, source: str, device: Device, *, seconds: float = SECONDS) -> StockVerdict:
    """What KernelBench would say: on the GPU with times; without one, correctness at the small size.

    Whatever the candidate does to the child that runs it, a verdict comes back, with a note.
    """
    known: dict[str, Any] = {
        "correct": False,
        "tolerance": 1e-4,
        "mode": "gpu" if device.present else "interpreter",
        "checker_errors": checker_errors(source),
    }
    try:
        payload = {
            "problem": sized_source(problem, device),
            "source": sized_candidate(problem, source, device),
            "device": "cuda" if device.present else "cpu",
        }
        with shared(device):
            worker = _open(payload, device, seconds)
        with worker:
            known |= _told(worker, device, seconds)
        return StockVerdict.model_validate(known)
    except (CandidateError, MachineError, UserError) as error:
        return StockVerdict.model_validate(known | {"note": f"could not be worked out: {error}"[:300]})
    except (ValidationError, KeyError, TypeError, ValueError):
        return StockVerdict.model_validate(known | {"correct": False, "note": "its process gave a forged answer"})


def _open(payload: dict[str, Any], device: Device, seconds: float) -> Worker:
    bounds = Bounds(seconds=seconds, memory_bytes=GPU_BYTES if device.present else CPU_BYTES)
    return open_worker("egg.tools.tasks.stock:serve", payload, bounds, interpret=not device.present)


def _told(worker: Worker, device: Device, seconds: float) -> dict[str, Any]:
    reply = worker.opened
    if not reply.ok:
        return {"correct": False, "note": _plain(f"{reply.state}: {reply.error}")}
    first = {key: reply.value[key] for key in ("correct", "passed", "tolerance")}
    first["note"] = _plain(str(reply.value["note"]))
    if not first["correct"] or not device.present:
        return first
    with exclusive(device):
        reply = worker.ask({}, seconds)
    if not reply.ok or "reference_ms" not in reply.value:
        return first | {"note": _plain(f"timing: {reply.error or reply.value.get('note', '')}")}
    reference, candidate = float(reply.value["reference_ms"]), float(reply.value["candidate_ms"])
    speedup = reference / candidate if candidate else None
    times = {"reference_ms": reference, "candidate_ms": candidate, "speedup": speedup}
    return first | times | {"excessive": speedup is None or speedup > EXCESSIVE}


def _plain(text: str) -> str:
    return "".join(c for c in text if c.isprintable())[:300]
