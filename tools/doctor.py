"""What this machine can do, and what to do about what it cannot."""

import os
import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from typing import Literal

from egg.state.errors import MachineError, UserError
from egg.state.finding import Finding
from egg.tools.counters import program
from egg.tools.counters.trial import uncounted
from egg.tools.counters.why import ADVICE
from egg.tools.device import detect_device
from egg.tools.folders import runs_dir, scratch_parent
from egg.tools.sandbox.isolation import isolation
from egg.tools.store import default_cache

PARAMETERS = Path("/proc/driver/nvidia/params")
LEAST_ROOM = 1 << 30


def examine() -> tuple[Finding, ...]:
    """Every finding; takes a few seconds, with counters to be tried half a minute."""
    found = [*_software()]
    if any(finding.state == "missing" for finding in found):
        return tuple(found)
    gpu = _gpu()
    present = gpu.state == "ok"
    found += [gpu, _isolation(interpret=not present), _compiler(), _profiler(present=present)]
    found += [_folder("cache", default_cache()), _folder("runs", runs_dir()), _scratch(present=present), _model()]
    return tuple(found)


def _software() -> Iterator[Finding]:
    ours: Literal["ok", "missing"] = "ok" if sys.platform == "linux" else "missing"
    advice = "" if ours == "ok" else "use Linux, or a Linux container"
    yield Finding(what="Python", state=ours, told=f"{python_version()} on {sys.platform}", advice=advice)
    for package in ("torch", "triton"):
        try:
            yield Finding(what=package, state="ok", told=version(package))
        except PackageNotFoundError:
            yield Finding(what=package, state="missing", told="not installed", advice=f"pip install {package}")


def _gpu() -> Finding:
    try:
        device = detect_device(None)
    except UserError as error:
        return Finding(what="GPU", state="limited", told=str(error), advice="mend the driver or PyTorch's build")
    if not device.present:
        told = "none: kernels are compiled for a named target and checked in Triton's interpreter, nothing is timed"
        return Finding(what="GPU", state="limited", told=told, advice="run on a machine with an NVIDIA GPU for times")
    room = f"{device.memory_bytes / 2**30:.0f} GiB"
    return Finding(what="GPU", state="ok", told=f"{device.name} ({device.target}), {room}, driver {device.driver}")


def _isolation(*, interpret: bool) -> Finding:
    try:
        found = isolation(interpret=interpret)
    except (UserError, MachineError) as error:
        return Finding(what="isolation", state="missing", told=str(error))
    kept = [f"{a.what}: {a.how}{'' if a.verified else ' (not verified)'}" for a in found.aspects]
    lacking = [f"refused here: {reason}" for reason in found.missing]
    state: Literal["ok", "limited"] = "ok" if found.level >= 2 else "limited"
    told = "\n".join((f"level {found.level} of 3, {found.name}", *kept, *lacking))
    return Finding(what="isolation", state=state, told=told, advice=found.advice)


def _compiler() -> Finding:
    """Triton builds its launcher, and torch.compile its code for the processor, with a C compiler."""
    path = shutil.which(os.environ.get("CC", "")) or shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if path:
        return Finding(what="C compiler", state="ok", told=path)
    told = "none: needed on a GPU machine by Triton's launcher and by torch.compile"
    return Finding(what="C compiler", state="limited", told=told, advice="install gcc or clang, or set CC")


def _profiler(*, present: bool) -> Finding:
    found = program.find()
    if found is None:
        told = "no ncu: profiles are static, with times from PyTorch's profiler"
        return Finding(what="ncu", state="limited", told=told, advice="install Nsight Compute for counters")
    if not present:
        return Finding(what="ncu", state="limited", told=f"{found.path}, but no GPU to profile")
    told = f"{found.path}, {program.version(found.path) or 'which does not say its version'}"
    if why := uncounted(detect_device(None)):
        advice = "runs go on by times"
        if _for_administrators():  # and no candidate is one, whoever runs this command
            advice = f"ask the administrator for NVreg_RestrictProfilingToAdminUsers=0 ({ADVICE}); {advice}"
        return Finding(what="ncu", state="limited", told=f"{told}; {why}", advice=advice)
    return Finding(what="ncu", state="ok", told=f"{told}; a candidate's counters may be read, as tried")


def _for_administrators() -> bool:
    """Whether the driver keeps counters from everyone else."""
    return PARAMETERS.exists() and "RmProfilingAdminOnly: 1" in PARAMETERS.read_text()


def _folder(what: str, path: Path) -> Finding:
    """Whether it, or the nearest folder above it that exists, can be written, and how much room is there."""
    variable = {"cache": "EGG_CACHE_DIR", "runs": "EGG_RUNS_DIR"}[what]
    above = next(folder for folder in (path, *path.parents) if folder.exists())
    if not os.access(above, os.W_OK):
        return Finding(what=what, state="missing", told=f"{path} cannot be written", advice=f"set {variable}")
    room = shutil.disk_usage(above).free
    told = f"{path}, {room / 2**30:.0f} GiB free"
    if room < LEAST_ROOM:
        return Finding(what=what, state="limited", told=told, advice=f"make room, or set {variable} elsewhere")
    return Finding(what=what, state="ok", told=told)


def _scratch(*, present: bool) -> Finding:
    if folder := scratch_parent():
        return Finding(what="scratch", state="ok", told=f"{folder}, in memory")
    told = "on disk: large outputs of candidates are compared more slowly"
    advice = "give /dev/shm 32 GiB or more (docker run --shm-size 64g)" if present else ""
    return Finding(what="scratch", state="limited" if present else "ok", told=told, advice=advice)


def _model() -> Finding:
    if os.environ.get("OPENAI_API_KEY"):
        return Finding(what="model", state="ok", told="OPENAI_API_KEY is set; `--model rulebook` needs none")
    told = "rulebook, as OPENAI_API_KEY is not set"
    return Finding(
        what="model", state="ok", told=told, advice="for an LLM: set it, or --model openai:NAME --base-url URL"
    )
