"""The environment a child gets: an allow-list, so that no key or token can be in it."""

import os
from pathlib import Path

import egg

EXACT = ("PATH", "LANG", "LC_ALL", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "LD_PRELOAD", "TZ", "TMPDIR", "CC")
CUDA = (
    "CUDA_HOME",
    "CUDA_PATH",
    "CUDA_VISIBLE_DEVICES",
    "CUDA_DEVICE_ORDER",
    "CUDA_MODULE_LOADING",
    "NVIDIA_VISIBLE_DEVICES",
    "NVIDIA_DRIVER_CAPABILITIES",
    "TRITON_PTXAS_PATH",
    "TRITON_PTXAS_BLACKWELL_PATH",
    "TRITON_LIBCUDA_PATH",
    "PYTORCH_CUDA_ALLOC_CONF",
)


def closed_environment(home: str, *, interpret: bool) -> dict[str, str]:
    """Variables for a process that will run unread code. `home` stands in for the user's own folder."""
    allowed = {name: os.environ[name] for name in (*EXACT, *CUDA) if name in os.environ}
    root = str(Path(egg.__file__).resolve().parent.parent)
    given = [os.path.abspath(part) for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    path = os.pathsep.join(dict.fromkeys((root, *given)))
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    python = {"PYTHONPATH": path, "PYTHONNOUSERSITE": "1", "PYTHONUNBUFFERED": "1"}
    ours = {"HOME": home, "USER": "egg", "TORCHINDUCTOR_CACHE_DIR": f"{home}/.inductor", **python, **threads}
    if interpret:
        # Read by triton when it is imported, so a process is for the interpreter or for compiling, never both.
        ours |= {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""}
    else:
        # Whether there is a GPU is asked while warming up; asked of CUDA itself, no child could use it any more.
        ours["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
    return {**allowed, **ours}
