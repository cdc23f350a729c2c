"""Registers and spills of a compiled kernel: from ptxas's own log, else from its cubin."""

import re
import struct
import subprocess
import tempfile
from typing import NamedTuple

FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
REGISTERS = re.compile(r"Used (\d+) registers")


class Resources(NamedTuple):
    """Per thread: registers, bytes of local memory, and how many of them hold what registers could not."""

    registers: int
    stack: int
    spills: int


def resources(cubin: bytes, kernel: str, log: str = "") -> Resources:
    """As ptxas says with `-v`; else as cuobjdump does (all of the stack counts as spilled); else registers only."""
    frame, used = FRAME.search(log), REGISTERS.search(log)
    if frame and used:
        stack, stored, loaded = map(int, frame.groups())
        return Resources(int(used.group(1)), stack, min(stack, max(stored, loaded)))
    dumped = _tool("cuobjdump", "--dump-resource-usage", cubin)
    usage = re.search(rf"Function {re.escape(kernel)}:\s*REG:(\d+) STACK:(\d+) SHARED:\d+ LOCAL:(\d+)", dumped)
    if usage:
        registers, stack, local = map(int, usage.groups())
        return Resources(registers, max(stack, local), max(stack, local))
    return Resources(registers_of(cubin, kernel), 0, 0)


def disassembled(cubin: bytes) -> str:
    """SASS with line information, also of what was inlined; empty where nvdisasm, which Triton ships, does not work."""
    return _tool("nvdisasm", "-gi", cubin)


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


def _tool(name: str, option: str, cubin: bytes) -> str:
    from triton import knobs

    try:
        with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
            file.write(cubin)
            file.flush()
            command = [getattr(knobs.nvidia, name).path, option, file.name]
            return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    except (OSError, RuntimeError, subprocess.SubprocessError):
        return ""
