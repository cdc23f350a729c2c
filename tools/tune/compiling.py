"""Points compiled ahead of time, side by side on the processor's cores; each outcome is kept, failures too."""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from pydantic import Field

from egg.state.device import Device
from egg.state.evaluation import StaticProfile
from egg.state.problem import Problem
from egg.state.record import Record
from egg.state.settings import Policy
from egg.tools import compile as compiling
from egg.tools.compile import static_profile
from egg.tools.errors import CandidateError
from egg.tools.gate import refusal
from egg.tools.kernels import CORES, Unfinished
from egg.tools.store import Store

VERSION = 1
UNFIT = ("does not fit", "fits a multiprocessor")
"""How `static_profile` says that a kernel asks for more than a multiprocessor has."""


class Compiled(Record):
    """What compiling a point told. Resources are of the launch with most of each, and None where there is none."""

    failed: str = Field("", description="Why there is no kernel")
    unfit: bool = Field(False, description="Whether it failed because it asks for more than there is")
    registers: int | None = None
    spills: int | None = None
    shared_bytes: int | None = None
    occupancy: float | None = Field(None, description="Of the longest launch")
    estimate_ms: float | None = None


_room = threading.BoundedSemaphore(CORES)
"""Searches that run side by side share the cores."""


def compile_points(
    problem: Problem,
    sources: Mapping[str, str],
    device: Device,
    policy: Policy,
    store: Store,
    left: Callable[[], float],
) -> dict[str, Compiled]:
    """The outcome of each source, by its id; those that `left()`, the seconds that remain, leaves no time for are
    missing."""

    def one(source: str) -> Compiled | None:
        key = {
            "problem": problem.digest,
            "source": source,
            "policy": policy.value,
            "device": device.model_dump(mode="json", exclude={"present", "uuid", "driver", "rates_from"}),
            "version": [VERSION, compiling.VERSION],
        }
        with _room:
            if left() <= 0:
                return store.find("point", key, Compiled)
            try:
                return store.get("point", key, Compiled, lambda: _compiled(problem, source, device, policy, store))
            except Unfinished as error:  # the machine was too busy, perhaps: no outcome to be kept
                return Compiled(failed=_first_line(error.feedback))

    with ThreadPoolExecutor(CORES) as pool:
        found = dict(zip(sources, pool.map(one, sources.values()), strict=True))
    return {name: outcome for name, outcome in found.items() if outcome is not None}


def _compiled(problem: Problem, source: str, device: Device, policy: Policy, store: Store) -> Compiled:
    if refused := refusal(source):
        return Compiled(failed=_first_line(refused.feedback))
    try:
        profile = static_profile(problem, source, device, policy, store)
    except Unfinished:
        raise
    except CandidateError as error:
        return Compiled(
            failed=_first_line(error.feedback) or error.status, unfit=any(said in error.feedback for said in UNFIT)
        )
    return of_profile(profile)


def of_profile(profile: StaticProfile) -> Compiled:
    """What a search needs of it."""
    launches = profile.launches
    if not launches:
        return Compiled(failed="no Triton kernel is launched")
    return Compiled(
        registers=max(launch.registers for launch in launches),
        spills=max(launch.spills for launch in launches),
        shared_bytes=max(launch.shared_bytes for launch in launches),
        occupancy=max(launches, key=lambda launch: launch.estimate_ms).occupancy,
        estimate_ms=profile.estimate_ms,
    )


def _first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0][:200]
