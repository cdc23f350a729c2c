"""What KernelBench's static checker would say of a source, for its Triton backend and its default settings.

Written from a description of it. It looks for words, so it has false alarms (any `pass`, any `try`) and gaps.
"""

import re
from collections.abc import Callable

Rule = tuple[str, Callable[[str], bool]]


def _has(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern)
    return lambda text: compiled.search(text) is not None


def _lacks(pattern: str) -> Callable[[str], bool]:
    found = _has(pattern)
    return lambda text: not found(text)


ERRORS: tuple[Rule, ...] = (
    ("a try or except", _has(r"\btry\s*:|\bexcept\b")),
    ("the word pass", _has(r"\bpass\b")),
    (
        "a timing function that is assigned to",
        _has(r"\b(?:torch\.cuda\.(?:synchronize|Event(?:\.\w+)?)|time\.(?:time|perf_counter))\s*="),
    ),
    (
        "threads or processes",
        _has(r"\b(?:import|from)\s+(?:threading|multiprocessing|concurrent)\b|\b(?:threading|multiprocessing)\.[A-Z]"),
    ),
    ("a tensor subclass", _has(r"\bclass\s+\w+\s*\((?:torch\.)?Tensor\)|\b_make_subclass\b|\bTensor\.__new__\b")),
    ("no @triton.jit and no @triton.autotune", _lacks(r"@triton\.(?:jit|autotune)\b")),
    ("no tl. operation", _lacks(r"\btl\.\w")),
)


def checker_errors(source: str) -> tuple[str, ...]:
    """For what it would refuse the source. Comments do not count."""
    text = "\n".join(line.partition("#")[0].partition("//")[0] for line in source.split("\n"))
    return tuple(name for name, applies in ERRORS if applies(text))
