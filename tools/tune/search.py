"""The search of one space: compile side by side, prune, time the rest by halves; without a GPU rank by the estimate."""

from collections.abc import Callable, Sequence
from time import monotonic

from egg.state.candidate import kernel_id
from egg.state.device import Device
from egg.state.problem import Problem, Workload
from egg.state.search import Point, PointStatus, SearchLimits, SearchResult, SearchSpace, Values
from egg.state.settings import Policy
from egg.tools.kernels import CORES
from egg.tools.store import Store
from egg.tools.timing import measure
from egg.tools.timing.brief import Stand, stand
from egg.tools.timing.interleave import Job
from egg.tools.timing.nvml import reader
from egg.tools.tune import autotuned, halving
from egg.tools.tune.apply import code_of, sources
from egg.tools.tune.compiling import Compiled, compile_points
from egg.tools.tune.halving import Race, Timed
from egg.tools.tune.order import Key, following, key_of
from egg.tools.tune.prune import pruned
from egg.tools.tune.room import room
from egg.tools.tune.space import current

BATCH_MEASURED, BATCH_ESTIMATED = 16, 4
"""Points compiled before the next ones are chosen; fixed, so that no machine's cores decide what is looked at."""
COMPILING_SHARE = 0.4
"""Of the seconds, at most, where timing is still to come."""
FINAL_SHARE = 0.2
"""Of the seconds, kept for the last comparison."""
TIMED_SHARE, TIMED_LEAST = 0.5, 12
"""Of the points that compile, by their estimate; and how many at least."""
AT_ONCE = 25
CONTEXT_BYTES, COPIES = 1 << 30, 4
"""What a process takes of the GPU: its context with what it flushes the cache with, and its tensors this many times."""
STEP_WORTH = 0.02
"""Without a GPU: what a batch must save by the estimate, so that another is compiled."""
SETTLED = 0.03
"""How much slower a fixed configuration may be timed than autotuning, which this search is to make unnecessary."""


def tune(
    problem: Problem,
    source: str,
    device: Device,
    policy: Policy,
    store: Store,
    *,
    space: SearchSpace,
    workload: Workload,
    limits: SearchLimits = SearchLimits(),  # noqa: B008  (frozen)
    hints: Sequence[Values] = (),
    job: Job | None = None,
) -> SearchResult:
    """Search the space around a kernel that is known to be right. A choice is worth what the judge says of it.

    Args:
        source: the kernel as it is; its own values are the first point.
        space: what may be chosen; each parameter is one of the kernel's.
        hints: points to look at first.
        job: what to time on; by default the GPU if `device` is present, else nothing is timed.

    Raises:
        KeyError: the kernel has no such parameter.
        MachineError: the kernel as it is cannot be timed here.
    """
    if job is None and device.present:
        job = Job(problem, device, policy, reader(device.uuid))
    search = _Search(problem, source, device, policy, store, space, workload, limits, job)
    search.compile(hints)
    search.time()
    return search.result()


class _Search:
    """What is known so far. Points are kept in the order in which they were met."""

    def __init__(
        self, problem: Problem, source: str, device: Device, policy: Policy, store: Store, space: SearchSpace,
        workload: Workload, limits: SearchLimits, job: Job | None,
    ) -> None:  # fmt: skip
        self.problem, self.device, self.policy, self.store = problem, device, policy, store
        self.space, self.workload, self.limits, self.job = space, workload, limits, job
        self.began = monotonic()
        self.start = current(source, space)
        self.first = kernel_id(source)
        self.values: dict[Key, Values] = {}
        self.kernel: dict[Key, str | None] = {}
        """Ids; None where no kernel could be written."""
        self.sources: dict[str, str] = {self.first: source}
        self.by_code: dict[str, str] = {}
        self.compiled: dict[str, Compiled] = {}
        self.timed: dict[str, Timed] = {}
        self.finalists: list[str] = []
        self.ended = "all points"
        self.stand: Stand | None = None
        self.waited = 0.0
        """Seconds, for other searches to leave room."""

    def left(self) -> float:
        """Seconds of its own: how long others keep the GPU does not decide what is looked at."""
        waited = self.waited + (self.stand.waited if self.stand else 0.0)
        return self.limits.seconds - (monotonic() - self.began - waited)

    def compile(self, hints: Sequence[Values]) -> None:
        """Points until the cap, the end of the space, or (without a GPU) until no step from the best is better."""
        most, measured = self.limits.most(self.job is not None), self.job is not None
        batch = BATCH_MEASURED if measured else BATCH_ESTIMATED
        reserve = (1 - COMPILING_SHARE) * self.limits.seconds if measured else 0.0
        points = [
            self.start,
            *following(self.space, self.start, hints, [self._place(self.start)], batch, near=not measured),
        ]
        before = float("inf")
        self._take(points[:most], lambda: self.left() - reserve)
        while len(self.compiled) < most:
            best = self._best_estimate()
            if not measured and best > before * (1 - STEP_WORTH) and len(self.values) < self.space.size:
                self.ended = f"no step from the best saving {STEP_WORTH:.0%}"
                return
            before = best
            if self.left() <= reserve:
                self.ended = f"the cap of {self.limits.seconds:g} s"
                return
            wanted = min(batch, most - len(self.compiled))
            points = following(self.space, self._best(), hints, self.values.keys(), wanted, near=not measured)
            if not points:
                if len(self.values) < self.space.size:
                    self.ended = f"no step from the best saving {STEP_WORTH:.0%}"
                return
            self._take(points, lambda: self.left() - reserve)
        if len(self.values) < self.space.size:
            self.ended = f"the cap of {most} points"

    def time(self) -> None:
        """Where there is something to time on."""
        order = self._promising()
        if self.job is None or not order:
            return
        each = CONTEXT_BYTES + COPIES * self.workload.min_bytes
        most, began = min(AT_ONCE, 3 * CORES // 2, len(order) + 1), monotonic()
        with room(self.device, each, most) as count, stand(self.job) as self.stand:
            self.waited = monotonic() - began
            racing = {name: self.sources[name] for name in (self.first, *order)}
            race = Race(racing, self.first, self._key(), count)
            self.timed, self.finalists = halving.halve(race, order, self.stand, self.store, self._before_the_last)

    def _before_the_last(self) -> float:
        """Seconds until the last comparison must begin."""
        seconds = self.left() - FINAL_SHARE * self.limits.seconds
        if seconds <= 0:
            self.ended = f"the cap of {self.limits.seconds:g} s"
        return seconds

    def result(self) -> SearchResult:
        """All of it as a record."""
        reasons = self._pruned()
        points = [self._point(key, reasons) for key in self.values]
        places = {point.kernel: i for i, point in reversed(list(enumerate(points))) if point.kernel}
        return SearchResult(
            space=self.space,
            target=self.device.target,
            measured=bool(self.finalists),
            limits=self.limits,
            points=tuple(points),
            ranking=tuple(places[name] for name in self._better()),
            seconds=round(monotonic() - self.began, 2),
            ended=self.ended,
        )

    def _take(self, points: Sequence[Values], left: Callable[[], float]) -> None:
        """Write and compile these. Points whose kernel was met before, but for its heading, cost nothing."""
        written = sources(self.problem, self._source, points, self.device, self.policy, self.store)
        new: dict[str, str] = {}
        for values, source in zip(points, written, strict=True):
            key = self._place(values)
            self.values[key] = values
            self.kernel[key] = None
            if source is not None:
                name = self.by_code.setdefault(code_of(source), kernel_id(source))
                self.kernel[key] = name
                if name not in self.compiled:
                    self.sources[name] = new[name] = source
        self.compiled |= compile_points(self.problem, new, self.device, self.policy, self.store, left)

    def _place(self, values: Values) -> Key:
        return key_of(self.space, values)

    @property
    def _source(self) -> str:
        return self.sources[self.first]

    def _estimate(self, name: str) -> float:
        one = self.compiled.get(name)
        return one.estimate_ms if one and one.estimate_ms is not None else float("inf")

    def _best(self) -> Values:
        """The point with the shortest predicted time; the first of equals."""
        dropped = self._pruned()
        names = {key: name for key, name in self.kernel.items() if name and name not in dropped}
        key = min(names, key=lambda key: self._estimate(names[key]), default=self._place(self.start))
        return self.values[key]

    def _best_estimate(self) -> float:
        dropped = self._pruned()
        return min((self._estimate(name) for name in self.compiled if name not in dropped), default=float("inf"))

    def _pruned(self) -> dict[str, str]:
        return pruned(self.compiled, self.first)

    def _promising(self) -> list[str]:
        """Kernels to time, best estimate first."""
        dropped = self._pruned()
        alive = [n for n, one in self.compiled.items() if not one.failed and n not in dropped and n != self.first]
        alive.sort(key=self._estimate)
        return alive[: max(TIMED_LEAST, round(TIMED_SHARE * len(self.compiled)))]

    def _better(self) -> list[str]:
        """Kernels that beat the first one, best first, by what ranks them."""
        slack = SETTLED if autotuned.ALL in self.start.values() else 0.0
        if self.finalists:
            most = 1.0 + slack
            return [n for n in self.finalists if n != self.first and (self.timed[n].ratio or most) < most]
        if self.job is not None:
            return []
        most = self._estimate(self.first) * (1.0 + slack)
        dropped = self._pruned()
        better = [n for n in self.compiled if n not in dropped and n != self.first and self._estimate(n) < most]
        return sorted(better, key=self._estimate)

    def _point(self, key: Key, reasons: dict[str, str]) -> Point:
        values, name = self.values[key], self.kernel[key]
        if name is None:
            return Point(values=values, status=PointStatus.FAILED, why="the library cannot write it so")
        if next(k for k, other in self.kernel.items() if other == name) != key:
            return Point(values=values, status=PointStatus.SAME, why=f"the same kernel as {name}", kernel=name)
        one, timed = self.compiled.get(name), self.timed.get(name)
        if one is None:
            return Point(values=values, status=PointStatus.PRUNED, why="no time was left to compile it", kernel=name)
        status, why = PointStatus.COMPILED, ""
        if one.failed:
            status, why = (PointStatus.PRUNED if one.unfit else PointStatus.FAILED), one.failed
        elif name in reasons:
            status, why = PointStatus.PRUNED, reasons[name]
        elif timed is not None:
            status, why = (PointStatus.FAILED, timed.failed) if timed.failed else (PointStatus.TIMED, "")
        return Point(
            values=values,
            status=status,
            why=why,
            kernel=name,
            **one.model_dump(exclude={"failed", "unfit"}),
            median_ms=timed.median_ms if timed else None,
            rounds=timed.rounds if timed else 0,
        )

    def _key(self) -> dict[str, object]:
        """What decides a time besides the kernel."""
        assert self.job is not None
        return {
            "problem": self.problem.digest,
            "policy": self.policy.value,
            "gpu": [self.device.uuid, self.device.driver, self.device.software, self.job.clock],
            "version": [halving.VERSION, measure.VERSION],
        }
