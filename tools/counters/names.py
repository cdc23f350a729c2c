"""Which of Nsight Compute's names stand for our metrics on a GPU, and back again."""

from collections.abc import Collection, Mapping

from egg.state.metrics import METRICS, Metric

PATCHED = "__sass_"


def ask(known: Collection[str], refused: Collection[str] = ()) -> tuple[str, ...]:
    """The names to ask for, each once.

    Args:
        known: base names that the profiler says it has; empty if it did not say.
        refused: names that it then did not know all the same.
    """
    names: dict[str, None] = {}
    for metric in METRICS:
        names |= dict.fromkeys(_names(metric, known, refused))
    return tuple(names)


def ours(values: Mapping[str, float]) -> dict[str, float]:
    """By our names, of what was read; what was not is missing."""
    found: dict[str, float] = {}
    for metric in METRICS:
        read = [values[name] for name in (metric.ncu, *metric.also) if name in values]
        if read:
            found[metric.name] = read[0]
        elif metric.ratio and values.get(metric.ratio[1]) and metric.ratio[0] in values:
            found[metric.name] = 100.0 * values[metric.ratio[0]] / values[metric.ratio[1]]
    return found


def _names(metric: Metric, known: Collection[str], refused: Collection[str]) -> tuple[str, ...]:
    for names in ((metric.ncu,), *((name,) for name in metric.also), metric.ratio or ()):
        if names and all(_has(known, name) and not {name, name.partition(".")[0]} & {*refused} for name in names):
            return names
    return ()


def _has(known: Collection[str], name: str) -> bool:
    """Whether it is in the list, or of those that a list may lack.

    These are launch parameters with what follows from them, and what is counted by patching a kernel's instructions.
    """
    base, _, suffix = name.partition(".")
    if not known or not suffix or base in known:
        return True
    return PATCHED in base and not any(PATCHED in one for one in known)
