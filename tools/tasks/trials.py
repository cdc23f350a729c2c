"""Autotuning without a GPU: all configurations are compiled at once, and the best predicted one is taken."""

from collections.abc import Sequence
from functools import total_ordering
from typing import TYPE_CHECKING, Any, NamedTuple

from triton.runtime.autotuner import Autotuner

from egg.state.device import Device
from egg.state.launch import Tried
from egg.tools.assembly.compiled import Compiled
from egg.tools.estimate import predict
from egg.tools.facts import facts_of, shortage
from egg.tools.launched import Seen
from egg.tools.tasks.pending import Compiler

if TYPE_CHECKING:
    from egg.tools.tasks.target import Recorder

CONFIGS = 64
"""Configurations of a kernel that are compiled at most, evenly spread; the rest count as slower."""


@total_ordering
class Trial:
    """What benchmarking a configuration returns: Triton compares these, and only then are they waited for."""

    def __init__(self, trials: "Trials", launches: list[Seen]) -> None:
        self.trials, self.launches = trials, launches
        self._ms: float | None = None

    @property
    def ms(self) -> float:
        if self._ms is None:
            self._ms = self.trials.predicted(self.launches)
        return self._ms

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trial) and self.ms == other.ms

    def __lt__(self, other: "Trial | Sequence[float]") -> bool:
        return self.ms < (other.ms if isinstance(other, Trial) else other[0])

    __hash__ = None  # type: ignore[assignment]

    def __getitem__(self, _: int) -> float:
        return self.ms

    def __len__(self) -> int:
        return 3


class Setting(NamedTuple):
    """A configuration and what came of it."""

    config: Any
    trial: Any


class Trials:
    """Of all autotuned kernels of a pass."""

    def __init__(self, device: Device, compiler: Compiler) -> None:
        self.device, self.compiler = device, compiler

    def install(self, recorder: "Recorder") -> None:
        """Let every autotuner say what it tried."""
        prune, run = Autotuner.prune_configs, Autotuner.run

        def prune_more(tuner: Any, arguments: dict[str, Any]) -> list[Any]:
            configs = list(prune(tuner, arguments))
            return configs[:: max(1, -(-len(configs) // CONFIGS))]

        def run_and_tell(tuner: Any, *args: Any, **kwargs: Any) -> Any:
            tuner.configs_timings = None
            before = len(recorder.launches)
            result = run(tuner, *args, **kwargs)
            if tuner.configs_timings:
                settings = [Setting(config, trial) for config, trial in tuner.configs_timings.items()]
                tried = tuple(self._tried(setting, tuner.best_config) for setting in settings)
                told = [seen.model_copy(update={"configs": tried}) for seen in recorder.launches[before:]]
                recorder.launches[before:] = told
            return result

        Autotuner.prune_configs, Autotuner.run = prune_more, run_and_tell

    def trial(self, launches: list[Seen]) -> Trial:
        """Of what one configuration launches."""
        return Trial(self, launches)

    def predicted(self, launches: list[Seen]) -> float:
        """Milliseconds of the launches; infinite if one of them cannot be compiled or does not fit."""
        total = 0.0
        for seen, kernel in zip(launches, self.compiler.wait([seen.job for seen in launches]), strict=True):
            if _refusal(kernel, self.device):
                return float("inf")
            total += predict(self.device, facts_of(seen, kernel)).ms
        return total

    def _tried(self, setting: Setting, best: Any) -> Tried:
        config, trial = setting
        told: dict[str, Any] = {
            "values": {name: str(value)[:40] for name, value in config.kwargs.items()},
            "warps": config.num_warps,
            "stages": config.num_stages,
            "chosen": config is best,
        }
        if not isinstance(trial, Trial) or not trial.launches:
            return Tried(**told, status="does not fit", why="Triton's autotuner left it out")
        (kernel,) = self.compiler.wait([trial.launches[-1].job])
        if why := _refusal(kernel, self.device):
            return Tried(**told, status="failed" if kernel.failed else "does not fit", why=why)
        predicted = predict(self.device, facts_of(trial.launches[-1], kernel))
        return Tried(
            **told,
            registers=kernel.registers,
            spills=kernel.spills,
            shared_bytes=kernel.shared_bytes,
            occupancy=predicted.occupancy.fraction,
            limiter=predicted.occupancy.limiter,
            estimate_ms=trial.ms if trial.ms < float("inf") else None,
        )


def _refusal(kernel: Compiled, device: Device) -> str:
    """Why it cannot be launched; empty if it can."""
    if kernel.failed:
        return (kernel.failed.splitlines() or ["failed"])[0][:200]
    lacks = shortage(kernel, device)
    return f"needs {lacks.needed} of {lacks.what}, there are {lacks.limit}" if lacks else ""
