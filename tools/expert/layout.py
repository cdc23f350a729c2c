"""Line breaking for emitted source."""

from collections.abc import Sequence

WIDTH = 110


def call(head: str, arguments: Sequence[str], tail: str = ")", indent: int = 0) -> str:
    """`head(arguments)tail` on one line, or with the arguments filled into lines of their own."""
    line = f"{head}({', '.join(arguments)}{tail}"
    if indent + len(line) <= WIDTH:
        return line
    margin = " " * (indent + 4)
    lines, current = [], ""
    for argument in arguments:
        grown = f"{current} {argument}," if current else f"{argument},"
        if len(margin) + len(grown) > WIDTH and current:
            lines.append(margin + current)
            grown = f"{argument},"
        current = grown
    if any(argument.startswith("**") for argument in arguments[-1:]):
        current = current.removesuffix(",")
    return "\n".join([f"{head}(", *lines, margin + current, " " * indent + tail])
