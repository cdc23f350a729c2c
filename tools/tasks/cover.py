"""An idle kernel on every multiprocessor, behind which the host launches a call that is to be timed.

As NVBench's blocking kernel, it keeps the host's launch out of the events. It leaves no room for another thread block
on the GPU, so that nothing a call puts on another stream begins before the call's own time does.
"""

import ctypes
from collections.abc import Callable

import torch

COVER_MS = 0.25
"""Longer than launching the first kernels takes, through torch.compile's guards too."""
BLOCK = 512
"""Threads of a block; a multiprocessor's own number is a multiple of it on every GPU from sm_80 on."""
PTX = b"""
.version 7.0
.target sm_70
.address_size 64

.visible .entry egg_cover(.param .u64 nanoseconds)
{
    .reg .u64 %wanted, %begin, %now;
    .reg .pred %early;
    ld.param.u64 %wanted, [nanoseconds];
    mov.u64 %begin, %globaltimer;
again:
    mov.u64 %now, %globaltimer;
    sub.u64 %now, %now, %begin;
    setp.lt.u64 %early, %now, %wanted;
    @%early bra again;
    ret;
}
"""


def cover() -> Callable[[], None]:
    """Loads the kernel into the current context, and returns what launches it on the current stream.

    Raises:
        RuntimeError: the driver does not take it.
    """
    torch.cuda.init()  # type: ignore[no-untyped-call]
    torch.cuda.synchronize()
    driver = ctypes.CDLL("libcuda.so.1")
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    _checked(driver.cuModuleLoadData(ctypes.byref(module), PTX), "cuModuleLoadData")
    _checked(driver.cuModuleGetFunction(ctypes.byref(function), module, b"egg_cover"), "cuModuleGetFunction")
    gpu = torch.cuda.get_device_properties()
    blocks = gpu.multi_processor_count * (gpu.max_threads_per_multi_processor // BLOCK)
    nanoseconds = ctypes.c_uint64(int(COVER_MS * 1e6))
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(nanoseconds))
    launch, stream = driver.cuLaunchKernel, torch.cuda.current_stream

    def begin() -> None:
        _ = nanoseconds  # lives as long as its address is used
        where = ctypes.c_void_p(stream().cuda_stream)
        _checked(launch(function, blocks, 1, 1, BLOCK, 1, 1, 0, where, arguments, None), "cuLaunchKernel")

    return begin


def _checked(code: int, what: str) -> None:
    if code:
        raise RuntimeError(f"{what} returns {code} for the kernel that covers launches")
