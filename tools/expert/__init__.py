"""The expert library: reads a module as an ATen graph and writes readable Triton for its regions.

What is exported here runs in the main process and does not load PyTorch; the work is done in a child.

To find your way: `spec` has the vocabulary (decisions, moves) and `write` the course of the work, which is
- read: `trace` exports the module at full and at small size, `capture` lays one over the other, `unify` writes numbers
  that differ as quantities known at run time, `algebra` may simplify first;
- cut: `kinds` is what a kind of region must know, `partition` gives the nodes to kinds, `region` is what they get;
- write: a kind's `default` decides, its `emit` writes; `chain` and `operators` write pointwise work for all of them,
  `helpers` has device functions; `forward`, `printer`, `keep` and `assemble` make the file around the kernels.

A kind is the module of its name (`gemm`, `attention`, `rows/`, ...); beside it stand `_match` (what it looks like in
the graph), `_text` (templates) and `_moves` (rules for changing its decisions, which `moves` ranks).
"""

from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any

from egg.state.device import Device
from egg.state.problem import Problem
from egg.state.settings import Policy
from egg.tools.expert.assemble import whole_module
from egg.tools.expert.heading import spec_of, without_stale
from egg.tools.expert.moves import moves
from egg.tools.expert.spec import Edits, KernelSpec, Move, RegionSpec, Skeleton
from egg.tools.sandbox.client import Bounds, run
from egg.tools.store import Store

__all__ = [
    "Edits",
    "KernelSpec",
    "Move",
    "RegionSpec",
    "Skeleton",
    "library_version",
    "moves",
    "spec_of",
    "without_stale",
    "write_kernel",
    "write_variants",
]

BOUNDS = Bounds(seconds=180)


def write_kernel(
    problem: Problem,
    *,
    policy: Policy,
    device: Device,
    structure: str | None = None,
    spec: KernelSpec | None = None,
    edits: Edits | None = None,
    store: Store,
) -> Skeleton:
    """A whole kernel.py: from a structure's defaults, or from `spec`; then with `edits` made.

    What cannot be expressed stays PyTorch and is listed; in the worst case that is the whole module. Never a failure
    of the candidate's.

    Raises:
        MachineError: no child process could be started.
    """
    payload = _payload(problem, policy, device, structure, spec, edits)

    def produce() -> Skeleton:
        reply = run("egg.tools.tasks.write:run", payload, BOUNDS)
        if not reply.ok:
            return whole_module(problem.source, policy, f"the expert library failed on it: {reply.error}")
        return Skeleton.model_validate(reply.value)

    return store.get("skeleton", _key(payload, device), Skeleton, produce)


def write_variants(
    problem: Problem,
    *,
    policy: Policy,
    device: Device,
    spec: KernelSpec,
    variants: Sequence[Edits],
    store: Store,
) -> list[Skeleton | None]:
    """What `write_kernel` gives for `spec` with each of these edits, all written by one child; None where it fails."""
    payloads = [_payload(problem, policy, device, None, spec, edits) for edits in variants]
    found = [store.find("skeleton", _key(payload, device), Skeleton) for payload in payloads]
    missing = [i for i, skeleton in enumerate(found) if skeleton is None]
    if not missing:
        return found
    began = perf_counter()
    asked = payloads[missing[0]] | {"variants": [variants[i] for i in missing]}
    reply = run("egg.tools.tasks.write:run_all", asked, BOUNDS)
    if not reply.ok:
        return found
    each = (perf_counter() - began) / len(missing)
    for i, written in zip(missing, reply.value["skeletons"], strict=True):
        skeleton = found[i] = Skeleton.model_validate(written)
        store.keep("skeleton", _key(payloads[i], device), skeleton, each)
    return found


def _payload(
    problem: Problem,
    policy: Policy,
    device: Device,
    structure: str | None,
    spec: KernelSpec | None,
    edits: Edits | None,
) -> dict[str, Any]:
    return {
        "source": problem.source,
        "small_source": problem.small_source,
        "policy": policy.value,
        "device": device.model_dump(mode="json"),
        "structure": structure,
        "spec": spec.model_dump(mode="json") if spec else None,
        "edits": edits,
    }


def _key(payload: dict[str, Any], device: Device) -> dict[str, Any]:
    return {**payload, "device": [device.target, device.multiprocessors, device.software], "library": library_version()}


@cache
def library_version() -> str:
    """Digest of the library's own sources: what it wrote before a change is not what it would write now."""
    folder = Path(__file__).parent
    return sha256(b"".join(path.read_bytes() for path in sorted(folder.rglob("*.py")))).hexdigest()[:12]
