"""What Nsight Compute needs of the sandbox here, and whether its figures agree: `python -m egg.evals.profiler`.

A kernel of ours is profiled without any sandbox and as every candidate is. If only the former works, or with
`--ladder`, every layer and every grant is left out once, so that it shows which one matters. Then the ceilings of the
GPU, and the same kernels' times by CUPTI and by Nsight Compute. Ends with code 1 when candidates' counters cannot be
read.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple

from egg.evals.provenance import provenance, write_results
from egg.evals.stopping import stoppable
from egg.state.device import Device
from egg.state.errors import MachineError
from egg.state.profile import Profile
from egg.state.settings import Policy
from egg.tools.ceilings import ceilings
from egg.tools.counters import program
from egg.tools.counters.collect import ASKED, BOUNDS, Answer, started, unable
from egg.tools.counters.trial import KERNEL, trial
from egg.tools.device import detect_device
from egg.tools.exclusive import exclusive
from egg.tools.profile import profile_forward
from egg.tools.sandbox.client import Bounds, Reply, run
from egg.tools.sandbox.isolation import in_force
from egg.tools.sandbox.pool import warm
from egg.tools.sandbox.records import GRANTS
from egg.tools.sandbox.worker import Worker
from egg.tools.store import Store

TCP = {"NV_COMPUTE_PROFILER_LOCAL_CONNECTION_OVERRIDE": "tcp"}


class Try(NamedTuple):
    """One way to start it."""

    name: str
    layers: tuple[str, ...]
    bounds: Bounds
    environment: Mapping[str, str] = {}


def tries(layers: tuple[str, ...], *, ladder: bool) -> Iterator[Try]:
    """Without a sandbox, as a candidate is, and then each part left out."""
    yield Try("no sandbox", (), replace(BOUNDS, grants=()))
    yield Try("as every candidate", layers, BOUNDS)
    if not ladder:
        return
    yield Try("with every grant", layers, replace(BOUNDS, grants=GRANTS))
    yield Try("with every grant, by TCP", layers, replace(BOUNDS, grants=GRANTS), TCP)
    for grant in ASKED:
        yield Try(f"without the grant `{grant}`", layers, replace(BOUNDS, grants=tuple({*ASKED} - {grant})))
    for layer in layers:
        left = tuple(one for one in layers if one != layer)
        yield Try(f"without the layer `{layer}`", left, BOUNDS if "namespaces" in left else replace(BOUNDS, grants=()))


def attempt(one: Try, found: program.Program, known: frozenset[str]) -> dict[str, Any]:
    """Whether it counted, how long it took, and what it wrote if it did not."""
    began = perf_counter()
    try:
        answer = started(
            trial(), KERNEL, Policy.STOCK, found, known, one.bounds, one.environment, in_layers(one.layers)
        )
    except MachineError as error:
        answer = Answer(why=str(error))
    return {
        "how": one.name,
        "launches": len(answer.launches),
        "counters": [len(launch.counters) for launch in answer.launches],
        "seconds": round(perf_counter() - began, 1),
        "why": answer.why,
        "detail": answer.detail,
    }


def in_layers(layers: Sequence[str]) -> Callable[[str, Mapping[str, Any], Bounds], Reply]:
    """A child that is shut in by these layers and no others."""

    def child(task: str, payload: Mapping[str, Any], bounds: Bounds) -> Reply:
        with Worker(warm(interpret=False), task, payload, bounds, layers) as worker:
            return worker.opened

    return child


def rights(found: program.Program, *, ladder: bool) -> list[dict[str, Any]]:
    """Every attempt. The rest of the ladder is climbed too when a candidate's fails and the bare one does not."""
    known, layers = program.known(found.path), in_force(False)
    print(unable(layers) or f"in {', '.join(layers) or 'no layer'}; CUDA alone there: {cuda_alone()}", flush=True)
    done: list[dict[str, Any]] = []
    for one in tries(layers, ladder=True):
        bare, ours = done[:1], done[1:2]
        if ours and not ladder and (ours[0]["launches"] or not bare[0]["launches"]):
            break
        done.append(attempt(one, found, known))
        said = f"{done[-1]['launches']} launches, counters {done[-1]['counters']}"
        print(f"{one.name:<36} {done[-1]['seconds']:>6.1f} s  {done[-1]['why'] or said}", flush=True)
        if done[-1]["why"] and len(done) <= 2:
            print(done[-1]["detail"], flush=True)
    return done


def cuda_alone() -> str:
    """What comes of a kernel of ours in such a child, without any profiler."""
    reply = run("egg.tools.tasks.gpu:properties", {}, BOUNDS)
    return str(reply.value.get("reason") or "works") if reply.ok else f"{reply.state}: {reply.error}"


def compare(device: Device) -> Profile:
    """The profile, with a line for each kernel."""
    with TemporaryDirectory() as cache:
        profile = profile_forward(trial(), KERNEL, device, Policy.STOCK, Store(cache=Path(cache)))
    print(f"profile by {profile.source}: {profile.total_ms:.4f} ms  {profile.note}")
    for kernel in profile.kernels:
        nsight = kernel.counters.get("duration", 0.0) / 1e6
        off = f"{nsight:.4f} ms by Nsight Compute, {100 * (nsight / kernel.ms - 1):+.1f} %" if nsight else "not counted"
        print(f"  {kernel.kernel[:60]:<60} {kernel.ms:.4f} ms by CUPTI, {off}")
        for name, value in kernel.counters.items():
            print(f"      {name:<24} {value:.6g}")
    return profile


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ladder", action="store_true", help="leave every layer and grant out once, come what may")
    parser.add_argument("--out", type=Path, help="a JSON file for the figures")
    options = parser.parse_args(arguments)
    device, found = detect_device(None), program.find()
    if not device.present or found is None:
        print("needs an NVIDIA GPU and ncu (Nsight Compute)")
        return 1
    print(f"{found.path} {program.version(found.path)}, {len(program.known(found.path))} metrics, {found.folders}")
    with exclusive(device):
        attempts = rights(found, ladder=options.ladder)
    rates = ceilings(device)
    print(rates.model_dump_json(indent=1))
    profile = compare(device)
    if options.out:
        figures = {"attempts": attempts, "ceilings": rates.model_dump(), "profile": profile.model_dump(mode="json")}
        write_results(options.out, {**provenance("egg.evals.profiler", device, Policy.STOCK), **figures})
    return 0 if attempts[1]["launches"] else 1


if __name__ == "__main__":
    stoppable(main)
