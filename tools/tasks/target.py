"""A GPU that is not there: Triton compiles for it and checks its limits, and every launch is written down, not run.

Triton reaches a GPU through one object, its active driver. This one answers from a `Device` record, so that the whole
of Triton's host side (specialisation, heuristics, autotuning, the check of shared memory) works as it will on the GPU.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import torch
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import CompiledKernel
from triton.runtime.autotuner import Autotuner
from triton.runtime.driver import driver

from egg.state.device import Device
from egg.tools.estimate import LaunchFacts, predict
from egg.tools.tasks.cubin import resources
from egg.tools.work import Work, count_work

CONFIGS = 6
"""Configurations of an autotuned kernel that are compiled; the rest count as slower."""


class Recorder:
    """The active driver; `launches` is what it saw."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.launches: list[LaunchFacts] = []
        self.silent = False
        self.utils = SimpleNamespace(get_device_properties=self._properties, load_binary=_load, unload_module=_nothing)

    def install(self) -> None:
        """Become the driver of this process. There is no way back: a child does this and then ends."""
        driver.set_active(self)
        _answer_for_cuda(self.device)
        load, prune = CompiledKernel._init_handles, Autotuner.prune_configs

        def load_with_ir(kernel: Any) -> None:
            load(kernel)
            kernel._run.ir = kernel.asm

        def prune_more(tuner: Any, arguments: dict[str, Any]) -> list[Any]:
            configs = list(prune(tuner, arguments))
            return configs[:: -(-len(configs) // CONFIGS)]

        CompiledKernel._init_handles = load_with_ir
        Autotuner.prune_configs = prune_more
        Autotuner.do_bench = property(lambda tuner: self.bench)

    def launcher_cls(self, source: Any, metadata: Any) -> "Launcher":
        return Launcher(self, source, metadata)

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", int(self.device.target.removeprefix("sm_")), 32)

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

    def get_benchmarker(self) -> Callable[..., list[float]]:
        return self.bench

    def bench(self, call: Callable[[], None], quantiles: Sequence[float] = (), **_: Any) -> list[float]:
        """Autotuning by prediction: what the call launches is compiled and estimated, then forgotten."""
        before, self.silent = len(self.launches), True
        try:
            call()
        finally:
            tried, self.launches[before:] = self.launches[before:], []
            self.silent = False
        return [sum(predict(self.device, launch).ms for launch in tried)] * max(1, len(quantiles))

    def _properties(self, index: int = 0) -> dict[str, int]:
        return {
            "max_shared_mem": self.device.shared_bytes,
            "max_num_regs": self.device.registers_sm,
            "multiprocessor_count": self.device.multiprocessors,
            "warpSize": 32,
            "sm_clock_rate": 1_500_000,
            "mem_clock_rate": 2_600_000,
            "mem_bus_width": 5120,
        }


class Launcher:
    """What Triton calls in place of `cuLaunchKernel`, one for each compiled kernel."""

    def __init__(self, recorder: Recorder, source: Any, metadata: Any) -> None:
        self.recorder, self.source, self.metadata = recorder, source, metadata
        self.ir: Mapping[str, str] = {}
        self._known: dict[Any, Work] = {}

    def __call__(self, x: int, y: int, z: int, stream: int, used: Any, *rest: Any) -> None:
        arguments = dict(zip(self.source.fn.arg_names, rest[4:], strict=True))
        grid = (int(x), int(y), int(z))
        scalars = {name: int(value) for name, value in arguments.items() if isinstance(value, int)}
        work = self._counted(scalars, grid)
        facts = LaunchFacts(
            kernel=self.source.fn.__name__,
            grid=grid,
            warps=self.metadata.num_warps,
            stages=self.metadata.num_stages,
            registers=used.registers,
            spills=used.spills,
            shared_bytes=self.metadata.shared,
            bytes=spanned_bytes(tensors_in(arguments.values())),
            tensor_core=_tensor_core(self.ir["ptx"]),
            load_bytes=work.load_bytes,
            store_bytes=work.store_bytes,
            dots=dict(work.dots),
            alu=work.alu,
            step_bytes=work.step_bytes,
            steps=work.steps,
        )
        self.recorder.launches.append(facts)

    def _counted(self, scalars: dict[str, int], grid: tuple[int, int, int]) -> Work:
        """Once for each set of scalars: a recurrence launches one kernel a thousand times."""
        key = grid, tuple(scalars.items())
        if key not in self._known:
            self._known[key] = count_work(self.ir["ttir"], scalars, grid)
        return self._known[key]


def _answer_for_cuda(device: Device) -> None:
    """What host code commonly asks PyTorch of the GPU, a persistent kernel above all."""
    capability = divmod(int(device.target.removeprefix("sm_")), 10)
    properties = SimpleNamespace(
        name=device.name,
        major=capability[0],
        minor=capability[1],
        multi_processor_count=device.multiprocessors,
        total_memory=device.memory_bytes,
        L2_cache_size=device.l2_bytes,
        warp_size=32,
    )
    answers: dict[str, Callable[..., Any]] = {
        "get_device_properties": lambda *_: properties,
        "get_device_capability": lambda *_: capability,
        "current_device": lambda: 0,
        "device": lambda *_: nullcontext(),
        "synchronize": _nothing,
    }
    for name, answer in answers.items():
        setattr(torch.cuda, name, answer)


def _nothing(*_: Any) -> None:
    pass


def tensors_in(values: Iterable[Any]) -> Iterator[torch.Tensor]:
    """Tensors among arguments: bare, in tuples, or under a TMA descriptor."""
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from tensors_in(value)
        elif isinstance(base := getattr(value, "base", None), torch.Tensor):
            yield base


def spanned_bytes(tensors: Iterable[torch.Tensor]) -> int:
    """Bytes of the elements the tensors address; views of one storage together count it once at most."""
    by_storage: dict[int, tuple[int, int]] = {}
    for tensor in tensors:
        storage = tensor.untyped_storage()
        reach = 1 + sum((size - 1) * abs(step) for size, step in zip(tensor.shape, tensor.stride(), strict=True))
        own = min(tensor.numel(), reach) * tensor.element_size()
        _, before = by_storage.get(storage._cdata, (0, 0))
        by_storage[storage._cdata] = storage.nbytes(), before + own
    return sum(min(whole, own) for whole, own in by_storage.values())


def _load(name: str, cubin: bytes, shared: int, device: int) -> tuple[object, Any, int, int, int]:
    used = resources(cubin, name)
    return object(), used, used.registers, used.spills, 1024


def _tensor_core(ptx: str) -> str:
    for instruction, name in (("tcgen05.mma", "tcgen05"), ("wgmma.mma_async", "wgmma"), ("mma.sync", "mma")):
        if instruction in ptx:
            return name
    return "none"
