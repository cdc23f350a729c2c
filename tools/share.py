"""Who does the work? Conclusions from what a candidate's children tell, none of which is taken on trust alone."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field, ValidationError

from egg.state.evaluation import StaticProfile, Status, Timing
from egg.state.ownership import KernelTime, Kind, Label, Ownership
from egg.state.record import Record
from egg.tools.errors import CandidateError
from egg.tools.operators import computes

NOT_BELOW = 0.01
"""Share of the GPU time below which a kernel is a decoy."""
PARTLY_BELOW = 0.9
MOSTLY_MOVED = 0.5
"""Share of copies and fills from which on they are the work."""
LISTED = 16
OTHER_WORK, OTHER_WORK_MS = 2.0, 0.05
"""A traced pass that takes this much more GPU time than the timed ones is another pass."""
FILLS = ("FillFunctor", "Memset")
COPIES = ("direct_copy_kernel", "bfloat16_copy_kernel", "float16_copy_kernel", "float8_copy_kernel", "Memcpy")


class Own(Record):
    """Launches of one of the candidate's own kernels on one grid, in all traced passes."""

    name: str
    function: str
    grid: tuple[int, ...]
    count: int


class Activity(Record):
    """What the GPU was seen to do. Microseconds of each time."""

    kind: Literal["kernel", "memcpy", "memset", "rest"]
    name: str
    grid: tuple[int, ...]
    us: tuple[float, ...]


class Trace(Record):
    """A candidate's process on its own forward passes."""

    how: Literal["cupti", "events"]
    passes: int = Field(gt=0)
    launches: tuple[Own, ...]
    activity: tuple[Activity, ...]
    why: str = Field("", description="Why not by CUPTI")


def read_trace(told: Any) -> Trace:
    """The trace, well-formed.

    Raises:
        CandidateError: it is forged.
    """
    try:
        return Trace.model_validate(told)
    except ValidationError as error:
        raise CandidateError(Status.CHEAT, "the trace of the candidate's process is forged") from error


def attribute(trace: Trace) -> tuple[KernelTime, ...]:
    """Each kernel's time in a pass, own ones' by grid, longest first; own as far as launches account for it.

    Name and grid must both be those of a launch that was seen to come from the candidate's file. If the GPU ran such a
    kernel more often than it was launched, somebody else's bears its name, and the longest are that one's.
    """
    owed = _owed(trace)
    times: dict[tuple[str, Kind, tuple[int, ...]], list[float]] = {}
    for seen in trace.activity:
        spans = sorted(seen.us)
        own = min(len(spans), owed[seen.name, seen.grid]) if seen.kind == "kernel" else 0
        parts: tuple[tuple[Kind, list[float]], ...] = (("own", spans[:own]), (_kind(seen), spans[own:]))
        for kind, part in parts:
            if part:
                times.setdefault((seen.name, kind, seen.grid if kind == "own" else ()), []).extend(part)
    kernels = [
        KernelTime(
            name=_plain(name),
            ms=sum(part) / trace.passes / 1e3,
            calls=round(len(part) / trace.passes),
            own=kind == "own",
            kind=kind,
            grid=grid,
        )
        for (name, kind, grid), part in times.items()
    ]
    return tuple(sorted(kernels, key=lambda kernel: -kernel.ms))


def owned(trace: Trace, profile: StaticProfile, timing: Timing | None) -> Ownership:
    """Ownership from a trace.

    Raises:
        CandidateError: the traced pass does other work than the timed ones.
    """
    kernels = attribute(trace)
    sums = {kind: sum(k.ms for k in kernels if k.kind == kind) for kind in ("own", "library", "copy", "fill")}
    own, other, moved = sums["own"], sums["library"], sums["copy"] + sums["fill"]
    total = own + other + moved
    if timing and trace.how == "cupti" and total > OTHER_WORK * timing.median_ms + OTHER_WORK_MS:
        said = f"a traced forward pass keeps the GPU busy for {total:.4f} ms, a timed one for {timing.median_ms:.4f} ms"
        raise CandidateError(Status.CHEAT, f"{said}: it does other work when it is looked at")
    share = own / total if total else 0.0
    return Ownership(
        label=_label(own, other, moved, share),
        share=share,
        estimated_share=1 - profile.torch_share,
        own_ms=own,
        other_ms=other,
        moved_ms=moved,
        kernels=kernels[:LISTED],
        torch_ops=computing(profile),
        idle=False,
        how=trace.how,
        note="; ".join(_disagreements(trace, kernels, profile, total)),
    )


def witnessed(work: Sequence[str]) -> Ownership:
    """Ownership as judged calls show it, from what `tasks.noted` took down."""
    kernels = {_plain(said.split(" ")[1]) for said in work if said.startswith("kernel ")}
    functions = {_plain(said.split(" of [")[0].split(" ")[-1]) for said in work if said.startswith("PyTorch's ")}
    label: Label = "partly_triton" if functions else "triton"
    return Ownership(label=label, torch_ops=tuple(sorted(functions)), launched=tuple(sorted(kernels)), idle=False)


def predicted(profile: StaticProfile, judged: Ownership | None = None) -> Ownership:
    """Ownership where no GPU was there to trace on: from the operators that PyTorch was seen to be asked for.

    The profile is of full size, and what was `judged` is not. Where the two differ the worse of them is told.
    """
    share: float | None = 1 - profile.torch_share
    label: Label = "partly_triton" if profile.torch_share > 1 - PARTLY_BELOW else "triton"
    names, notes = computing(profile), []
    if judged and judged.torch_ops and not names:
        label, share, names = "partly_triton", None, judged.torch_ops
        notes.append(f"PyTorch computes in the calls that were judged: {', '.join(names)[:200]}")
    recorded = {_plain(launch.kernel) for launch in profile.launches}
    if judged and (unseen := sorted(recorded - set(judged.launched))):
        notes.append(f"launched at full size only, and so not judged: {', '.join(unseen)[:200]}")
    launched = judged.launched if judged else ()
    return Ownership(
        label=label, estimated_share=share, torch_ops=names, launched=launched, idle=False, note="; ".join(notes)
    )


def not_ours(ownership: Ownership) -> CandidateError | None:
    """The verdict on a candidate whose kernels hardly run."""
    if ownership.label != "not_triton":
        return None
    busy = ", ".join(kernel.name[:60] for kernel in ownership.kernels if kernel.kind == "library")[:200]
    said = f"only {ownership.share or 0:.2%} of the GPU time is in the candidate's own Triton kernels"
    return CandidateError(Status.NOT_TRITON, f"{said}; the rest is PyTorch's: {busy}" if busy else said)


def computing(profile: StaticProfile) -> tuple[str, ...]:
    """PyTorch's operators that do arithmetic."""
    return tuple(name for name in profile.torch_ops if computes(name))


def _owed(trace: Trace) -> Counter[tuple[str, tuple[int, ...]]]:
    owed: Counter[tuple[str, tuple[int, ...]]] = Counter()
    for own in trace.launches:
        owed[own.name, own.grid] += own.count
    return owed


def _kind(seen: Activity) -> Kind:
    if seen.kind == "memset" or any(part in seen.name for part in FILLS):
        return "fill"
    if seen.kind == "memcpy" or any(part in seen.name for part in COPIES):
        return "copy"
    return "library"


def _label(own: float, other: float, moved: float, share: float) -> Label:
    if share < NOT_BELOW:
        return "not_triton"
    mostly_moved = moved > MOSTLY_MOVED * (own + other + moved)
    return "partly_triton" if own < PARTLY_BELOW * (own + other) or mostly_moved else "triton"


def _disagreements(trace: Trace, kernels: tuple[KernelTime, ...], profile: StaticProfile, total: float) -> list[str]:
    found = [f"measured by events, since {trace.why}"] if trace.why else []
    seen = Counter({(act.name, act.grid): len(act.us) for act in trace.activity if act.kind == "kernel"})
    missing = (_owed(trace) - seen).total()
    if missing:
        found.append(f"{missing} of {sum(own.count for own in trace.launches)} launches were not seen on the GPU")
    recorded = {launch.kernel for launch in profile.launches}
    busy = {kernel.name for kernel in kernels if kernel.own and kernel.ms > NOT_BELOW * total}
    strange = sorted({own.function for own in trace.launches if own.name in busy} - recorded)
    if strange:
        found.append(f"not among the launches recorded without a GPU: {', '.join(strange)[:200]}")
    return found


def _plain(name: str) -> str:
    return "".join(c for c in name[:200] if c.isprintable())


def read_replay(told: Any) -> dict[str, Any] | None:
    """What `tasks.replay` found, well-formed; None if it was not asked.

    Raises:
        KeyError, TypeError: it is forged.
    """
    if told is None:
        return None
    return {
        "idle": bool(told["idle"]),
        "answered": _plain(str(told["answered"])[:80]),
        "hides": bool(told["hides"]),
    }


def no_work(replay: dict[str, Any] | None, launches: int) -> CandidateError | None:
    """The verdict on a candidate whose Triton launches are none, not missed, or not needed."""
    if replay is None:
        return None
    if not launches:
        return CandidateError(Status.NOT_TRITON, "no Triton kernel is launched")
    if replay["idle"]:
        said = "the output is the same without the candidate's Triton launches: PyTorch computes it"
        return CandidateError(Status.NOT_TRITON, said)
    if replay["answered"]:
        said = f"PyTorch has the answer without any Triton launch (from {replay['answered']}); the kernels only copy it"
        return CandidateError(Status.NOT_TRITON, said)
    if replay["hides"]:
        said = "a launch that fails goes unnoticed: the forward pass ends as if it had worked; let it fail"
        return CandidateError(Status.REJECTED, said)
    return None
