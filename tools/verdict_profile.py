"""A forward pass's profile from what its verdict knows already: traced times where there are some, else the estimate.

It costs nothing. Counters, and times of a candidate without a verdict, are for `egg.tools.profile`.
"""

from egg.state.evaluation import Evaluation, Launch, StaticProfile
from egg.state.ownership import KernelTime, Ownership
from egg.state.profile import KernelProfile, Profile
from egg.tools.compile import LEAST_MS, on_gpu
from egg.tools.estimate import LAUNCH_MS

NOT_TRACED = "nothing was traced on a GPU: times are predicted from what compiling tells"
PYTORCH = "PyTorch: "
BESIDE = {"calls", "arguments", "options", "notes", "configs"}
"""Of two launches, what may differ while they are one to the roofline."""


def of_verdict(evaluation: Evaluation) -> Profile | None:
    """Its kernels, longest first; None if it was not even compiled."""
    static, ownership = evaluation.profile, evaluation.ownership
    if static is None:
        return None
    if ownership and ownership.share is not None and ownership.kernels:
        return of_trace(static, ownership)
    return estimated(static)


def of_trace(static: StaticProfile, ownership: Ownership) -> Profile:
    """By traced times; each own kernel is joined by name and grid with what compiling it told."""
    total = sum(part or 0.0 for part in (ownership.own_ms, ownership.other_ms, ownership.moved_ms))
    total = max(total, sum(kernel.ms for kernel in ownership.kernels))
    kernels = tuple(
        KernelProfile(
            kernel=kernel.name,
            calls=max(1, kernel.calls),
            ms=kernel.ms,
            share=_share(kernel.ms, total),
            measured=True,
            own=kernel.own,
            launch=_launch(static, kernel) if kernel.own else None,
        )
        for kernel in ownership.kernels
    )
    return Profile(target=static.target, kernels=kernels, total_ms=total, source="times", note=ownership.note)


def estimated(static: StaticProfile, note: str = NOT_TRACED) -> Profile:
    """By predicted times, without what starting a kernel costs the host."""
    times = [launch.calls * on_gpu(launch.estimate_ms) for launch in static.launches]
    theirs = _torch_ms(static)
    total = sum(times) + static.unlisted_ms + theirs
    kernels = [
        KernelProfile(
            kernel=launch.kernel,
            calls=launch.calls,
            ms=ms,
            share=_share(ms, total),
            measured=False,
            own=True,
            launch=launch,
        )
        for launch, ms in zip(static.launches, times, strict=True)
    ]
    if static.torch_ops:
        name = PYTORCH + ", ".join(dict.fromkeys(static.torch_ops))
        calls = len(static.torch_ops)
        kernels.append(
            KernelProfile(kernel=name, calls=calls, ms=theirs, share=_share(theirs, total), measured=False, own=False)
        )
    kernels.sort(key=lambda kernel: -kernel.ms)
    return Profile(target=static.target, kernels=tuple(kernels), total_ms=total, source="estimate", note=note)


def _torch_ms(static: StaticProfile) -> float:
    if static.torch_ms is not None:
        return static.torch_ms
    if not static.torch_ops:
        return 0.0
    left = static.estimate_ms - sum(launch.calls * launch.estimate_ms for launch in static.launches)
    return max(0.0, left - LAUNCH_MS * len(static.torch_ops), LEAST_MS * len(static.torch_ops))


def _launch(static: StaticProfile, kernel: KernelTime) -> Launch | None:
    """What compiling told of it; None where several launches with different work might be meant."""
    named = [launch for launch in static.launches if launch.kernel == kernel.name]
    if kernel.grid:  # older verdicts have none
        named = [launch for launch in named if _whole(launch.grid) == _whole(kernel.grid)]
    kinds = {launch.model_dump_json(exclude=BESIDE) for launch in named}
    return named[0] if len(kinds) == 1 else None


def _whole(grid: tuple[int, ...]) -> tuple[int, ...]:
    return (*grid, 1, 1)[:3]


def _share(part: float, whole: float) -> float:
    return min(1.0, part / whole) if whole > 0 else 0.0
