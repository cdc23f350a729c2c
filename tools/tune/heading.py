"""What a tuned kernel says of itself: a table of comments at its head, one line for each shape of the inputs.

The numbers themselves stand in the kernel's own tables, so that nothing is searched or timed when it runs.
"""

from collections.abc import Sequence

from egg.state.device import Device
from egg.state.problem import TensorSpec
from egg.state.search import Values
from egg.tools.expert.heading import SPEC_LINE

MARK = "# egg tune: "


def headed(source: str, values: Values, measured: bool, inputs: Sequence[TensorSpec], device: Device) -> str:
    """The source with a line that these values are for these inputs; it replaces an older one for the same inputs."""
    shapes = ", ".join(f"{'x'.join(map(str, tensor.shape))} {tensor.dtype}" for tensor in inputs)
    chosen = ", ".join(f"{name} = {value}" for name, value in values.items())
    start = f"{MARK}inputs {shapes}: "
    lines = source.splitlines()
    first = 1 if lines and lines[0].startswith(SPEC_LINE) else 0
    others = [line for line in lines[first:] if not line.startswith(start)]
    line = f"{start}{chosen} ({'timed on' if measured else 'estimated for'} {device.name})"
    return "\n".join([*lines[:first], line, *others]) + "\n"
