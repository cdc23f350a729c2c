"""Which files a child may reach: what Python, PyTorch, Triton and the driver consist of, and its own folder."""

import os
import pwd
import shutil
import sys
from functools import cache
from glob import glob
from pathlib import Path
from typing import NamedTuple

import egg

SYSTEM = (
    *("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/nix/store", "/run/opengl-driver", "/opt/cuda"),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/alternatives"),
    *("/etc/nvidia", "/etc/OpenCL"),
)
PROC = ("cpuinfo", "meminfo", "stat", "loadavg", "version", "filesystems", "devices", "driver", "sys/kernel", "sys/vm")
PLAIN_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
GPU_DEVICES = ("/dev/nvidia*", "/dev/dxg")
TOOLS = ("CUDA_HOME", "CUDA_PATH", "CC", "TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH", "TRITON_LIBCUDA_PATH")
TEMPORARY = ("/tmp", "/dev/shm")
"""For programs that do not ask where to put their files; of use only to a child with a file system of its own."""
OWN_WORLD = (*TEMPORARY, "/proc")
"""What such a child may write to. CUDA names its threads in their process's own folder, or does not start."""
COMPILER_PARTS = ("bin", "lib", "lib32", "lib64", "libexec", "include")
OURS = ("state", "tools")
"""The parts of this package that children load."""


class Files(NamedTuple):
    """Paths by what may be done with them, and with all beneath."""

    run: tuple[str, ...]
    """Read, and for those who may start programs, executed."""
    read: tuple[str, ...]
    devices: tuple[str, ...]
    write: tuple[str, ...]


def reachable(
    folder: str, more: tuple[str, ...], *, programs: bool, own_proc: bool, runs: tuple[str, ...] = ()
) -> Files:
    """Of a child that works in `folder`, may also read `more` and start the programs in `runs`.

    `programs`: it compiles and uses the GPU. `own_proc`: its /proc shows only processes of its own.
    """
    me = f"/proc/{os.readlink('/proc/self')}"
    proc = ("/proc",) if own_proc else (me, *(f"/proc/{name}" for name in PROC))
    devices = PLAIN_DEVICES + (tuple(found for name in GPU_DEVICES for found in glob(name)) if programs else ())
    machine = ("/sys",) if programs else ("/sys/devices/system",)
    return Files(
        run=(*SYSTEM, *machine, *proc, *python_files(), *_tools(), *runs),
        read=more,
        devices=devices,
        # CUDA names its threads by writing there.
        write=(folder, me) if programs else (folder,),
    )


@cache
def python_files() -> tuple[str, ...]:
    """Python, every package that is loaded, and our own; not the folders from which they happen to be loaded."""
    prefixes = [path for path in (sys.prefix, sys.base_prefix) if not _private(path)]
    found = dict.fromkeys(prefixes)
    found |= dict.fromkeys(path for path in sys.path if not _private(path) and _holds_packages(Path(path)))
    for name, module in list(sys.modules.items()):
        if "." in name or name in ("egg", "tests", "__main__"):
            continue
        spec = getattr(module, "__spec__", None)
        places = list(getattr(spec, "submodule_search_locations", None) or ()) or [getattr(spec, "origin", None) or ""]
        found |= dict.fromkeys(p for p in places if p.startswith("/") and not _beneath(p, found))
    ours = Path(egg.__file__).parent
    return (*found, str(ours), *(str((ours / name).resolve()) for name in OURS))


def _holds_packages(folder: Path) -> bool:
    named = folder.name in ("site-packages", "dist-packages")
    return named or (folder / "torch").is_dir() or any(folder.glob("*.dist-info"))


def _beneath(path: str, folders: dict[str, None]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)


def _tools() -> tuple[str, ...]:
    named = [os.environ.get(name, "") for name in TOOLS]
    folders = [path if os.path.isdir(path) else os.path.dirname(path) for path in named if path.startswith("/")]
    # A compiler in a prefix of its own has its parts in that prefix's other folders.
    compiler = shutil.which(os.environ.get("CC") or "cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler and (own := Path(compiler).resolve().parent).name == "bin":
        folders += [str(own.parent / part) for part in COMPILER_PARTS]
    libraries = [path for path in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if path.startswith("/")]
    return tuple(path for path in (*folders, *libraries) if not _private(path))


def _private(path: str) -> bool:
    """Whether it is the user's own folder, or one above."""
    here, home = Path(path).resolve(), Path(_home()).resolve()
    return here == home or here in home.parents or here == Path("/")


def _home() -> str:
    """The user's own; the environment here names another."""
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return "/"
