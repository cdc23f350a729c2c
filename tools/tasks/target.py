"""A GPU that is not there: Triton works for it, and every launch is written down, not run.

Triton reaches a GPU through one object, its active driver. This one answers from a `Device` record, so that the whole
of Triton's host side (specialisation, heuristics, autotuning) works as it will on the GPU. Kernels are compiled
elsewhere, several at once; who needs to know what came of one waits for it.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import torch
from triton.runtime.autotuner import Autotuner
from triton.runtime.driver import driver
from triton.runtime.jit import JITFunction

from egg.state.device import Device
from egg.tools.launched import Seen
from egg.tools.tasks.gpu_target import triton_target
from egg.tools.tasks.pending import Compiler, PendingKernel
from egg.tools.tasks.trials import Trial, Trials


class Recorder:
    """The active driver; `launches` is what it saw, without `calls`."""

    def __init__(self, device: Device, compiler: Compiler) -> None:
        self.device, self.compiler = device, compiler
        self.launches: list[Seen] = []
        self.silent = False
        self.trials = Trials(device, compiler)
        self.utils = SimpleNamespace(get_device_properties=self._properties)

    def install(self) -> None:
        """Become the driver of this process. There is no way back: a child does this and then ends."""
        driver.set_active(self)
        _answer_for_cuda(self.device)
        bind = JITFunction.create_binder

        def compile_elsewhere(function: Any) -> Any:
            bound = bind(function)
            function.compile = self._compile
            return bound

        JITFunction.create_binder = compile_elsewhere
        self.trials.install(self)
        Autotuner.do_bench = property(lambda tuner: self.bench)

    def _compile(self, source: Any, target: Any, options: dict[str, Any], **_: Any) -> PendingKernel:
        return PendingKernel(self, source, options)

    def get_current_target(self) -> Any:
        return triton_target(self.device.target)

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None:
        pass

    def get_current_stream(self, device: int | None = None) -> int:
        return 0

    def get_active_torch_device(self) -> torch.device:
        return torch.device("meta")

    def get_device_interface(self) -> Any:
        return torch.cuda

    def get_benchmarker(self) -> Callable[..., Trial]:
        return self.bench

    def bench(self, call: Callable[[], None], quantiles: Sequence[float] = (), **_: Any) -> Trial:
        """Autotuning by prediction: what the call launches is compiled and estimated, then forgotten."""
        before, self.silent = len(self.launches), True
        try:
            call()
        finally:
            tried, self.launches[before:] = self.launches[before:], []
            self.silent = False
        return self.trials.trial(tried)

    def _properties(self, index: int = 0) -> dict[str, int]:
        return {
            "max_shared_mem": self.device.shared_bytes,
            "max_num_regs": self.device.registers_sm,
            "multiprocessor_count": self.device.multiprocessors,
            "warpSize": self.device.warp,
            "sm_clock_rate": 1_500_000,
            "mem_clock_rate": 2_600_000,
            "mem_bus_width": 5120,
        }


def _answer_for_cuda(device: Device) -> None:
    """What host code commonly asks PyTorch of the GPU, a persistent kernel above all."""
    capability = device.capability
    properties = SimpleNamespace(
        name=device.name,
        major=capability[0],
        minor=capability[1],
        multi_processor_count=device.multiprocessors,
        total_memory=device.memory_bytes,
        L2_cache_size=device.l2_bytes,
        warp_size=device.warp,
        gcnArchName=device.target,
    )
    answers: dict[str, Callable[..., Any]] = {
        "get_device_properties": lambda *_: properties,
        "get_device_capability": lambda *_: capability,
        "current_device": lambda: 0,
        "device": lambda *_: nullcontext(),
        "synchronize": lambda *_: None,
    }
    for name, answer in answers.items():
        setattr(torch.cuda, name, answer)
