"""Registers and spills of a compiled kernel, from its cubin."""

import re
import struct
import subprocess
import tempfile
from typing import NamedTuple


class Resources(NamedTuple):
    """Per thread: registers, and bytes of local memory (what is spilled, and arrays that registers cannot hold)."""

    registers: int
    spills: int


def resources(cubin: bytes, kernel: str) -> Resources:
    """Ask cuobjdump, which Triton ships; without it the ELF headers still tell the registers (spills read as 0)."""
    dumped = _dump(cubin)
    usage = re.search(rf"Function {re.escape(kernel)}:\s*REG:(\d+) STACK:(\d+) SHARED:\d+ LOCAL:(\d+)", dumped or "")
    if usage:
        registers, stack, local = map(int, usage.groups())
        return Resources(registers, max(stack, local))
    return Resources(registers_of(cubin, kernel), 0)


def registers_of(cubin: bytes, kernel: str) -> int:
    """Registers from the section header of `.text.KERNEL`, whose info field holds them in its top byte."""
    table, size, count, names = *struct.unpack_from("<Q", cubin, 40), *struct.unpack_from("<HHH", cubin, 58)
    headers = [struct.unpack_from("<IIQQQQII", cubin, table + index * size) for index in range(count)]
    strings = headers[names][4]
    for name, _, _, _, _, _, _, info in headers:
        start = strings + name
        if cubin[start : cubin.index(b"\0", start)] == f".text.{kernel}".encode():
            return int(info) >> 24
    raise ValueError(f"no kernel {kernel} in the cubin")


def _dump(cubin: bytes) -> str | None:
    from triton import knobs

    try:
        with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
            file.write(cubin)
            file.flush()
            command = [knobs.nvidia.cuobjdump.path, "--dump-resource-usage", file.name]
            return subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout
    except (OSError, RuntimeError, subprocess.SubprocessError):
        return None
