"""Small blocks of classic BPF that look at one system call; every block ends in a return."""

import struct
from collections.abc import Iterable
from typing import NamedTuple

ALLOW = 0x7FFF0000
ERRNO = 0x00050000
KILL_PROCESS = 0x80000000
LOAD, EQUAL, AT_LEAST, ANY_BIT, AND, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
NUMBER, ARCH, ARGUMENTS = 0, 4, 16
"""Offsets in what the kernel shows of a call."""


class Step(NamedTuple):
    """One instruction: the jumps say how many to skip."""

    code: int
    if_true: int
    if_false: int
    value: int


def load(offset: int) -> Step:
    """Take a word of the call."""
    return Step(LOAD, 0, 0, offset)


def argument(index: int) -> Step:
    """Take the low half of an argument: process ids, families and flags are no longer than that."""
    return load(ARGUMENTS + 8 * index)


def answer(verdict: int) -> Step:
    """End here."""
    return Step(RETURN, 0, 0, verdict)


def refuse(number: int) -> Step:
    """End here; the caller sees this errno."""
    return answer(ERRNO | number)


def when(call: int, block: list[Step]) -> list[Step]:
    """`block` for the call of this number; what follows for all others."""
    return [Step(EQUAL, 0, len(block), call), *block]


def only(index: int, values: Iterable[int], errno: int) -> list[Step]:
    """Allowed if the argument is one of the values."""
    return _one_of(index, values, refuse(errno), answer(ALLOW))


def unless(index: int, values: Iterable[int], errno: int) -> list[Step]:
    """Allowed if the argument is none of the values."""
    return _one_of(index, values, answer(ALLOW), refuse(errno))


def only_masked(index: int, mask: int, value: int, errno: int) -> list[Step]:
    """Allowed if these bits of the argument are the value."""
    return [argument(index), Step(AND, 0, 0, mask), Step(EQUAL, 1, 0, value), refuse(errno), answer(ALLOW)]


def _one_of(index: int, values: Iterable[int], otherwise: Step, found: Step) -> list[Step]:
    wanted = list(values)
    tests = [Step(EQUAL, len(wanted) - place, 0, value & 0xFFFFFFFF) for place, value in enumerate(wanted)]
    return [argument(index), *tests, otherwise, found]


def assemble(steps: list[Step]) -> bytes:
    """As the kernel reads it."""
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
