"""The line at the head of a kernel of the library: the decisions that it was written from, and what the code was then.

Whoever changes the code by hand leaves the decisions behind: they no longer say what the kernel does.
"""

import re
from hashlib import sha256

from egg.tools.expert.spec import KernelSpec

SPEC_LINE = "# egg: "
LINE = re.compile(rf"^{SPEC_LINE}(.*) ([0-9a-f]{{12}})$", re.MULTILINE)


def headed(spec: KernelSpec, code: str) -> str:
    """The code below its line."""
    return f"{SPEC_LINE}{spec.model_dump_json()} {_mark(code)}\n{code}"


def spec_of(source: str) -> KernelSpec | None:
    """The decisions a kernel was written from; None if it was not written by the library, or was changed since."""
    line = LINE.search(source)
    if line is None or _mark(source) != line.group(2):
        return None
    try:
        return KernelSpec.model_validate_json(line.group(1))
    except ValueError:
        return None


def without_stale(source: str) -> str:
    """The source without decisions that it no longer follows."""
    if spec_of(source) is not None:
        return source
    return "".join(line for line in source.splitlines(keepends=True) if not line.startswith(SPEC_LINE))


def _mark(source: str) -> str:
    """Of the code; comments and blank lines are nobody's decision."""
    lines = [line.rstrip() for line in source.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return sha256("\n".join(lines).encode()).hexdigest()[:12]
