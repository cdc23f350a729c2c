"""PTX: widths of global accesses by source line, and the class of the matrix instructions."""

import re
from collections import Counter
from collections.abc import Iterator

from egg.tools.assembly.compiled import Access

CLASSES = (("tcgen05.mma", "tcgen05"), ("wgmma.mma_async", "wgmma"), ("mma.sync", "mma"))
FILE = re.compile(r'^\s*\.file\s+(\d+)\s+(?:"[^"]*"\s+)?"([^"]*)"', re.M)
LOCATION = re.compile(r"\.loc\s+(\d+)\s+(\d+)\s+\d+(?:.*?inlined_at\s+(\d+)\s+(\d+))?")
ACCESS = re.compile(r"\b(ld|st|red|atom)((?:\.[\w:]+)+)\s+[\[{%]")
COPY = re.compile(r"\bcp\.async\.c[ag]\.shared[\w:]*\.global\S*\s+\[[^\]]*\],\s*\[[^\]]*\],\s*(0x[0-9a-f]+|\d+)")
BULK = re.compile(r"\bcp\.(?:reduce\.)?async\.bulk\b")
ELEMENT = re.compile(r"^[busf](\d+)$|^b?f(\d+)x(\d+)$")

Found = tuple[tuple[Access, ...], tuple[Access, ...], bool]


def steadied(ptx: str) -> str:
    """Without the places that LLVM makes up within inline assembly: it counts a line on for each of the assembly's."""
    kept, inside, seen = [], False, False
    for line in ptx.splitlines(keepends=True):
        if "// begin inline asm" in line:
            inside, seen = True, False
        elif "// end inline asm" in line:
            inside = False
        elif inside and line.lstrip().startswith(".loc"):
            if seen:
                continue
            seen = True
        kept.append(line)
    return "".join(kept)


def matrix_class(ptx: str) -> str:
    """`tcgen05`, `wgmma`, `mma`, or `none`: the newest that occurs."""
    return next((name for sign, name in CLASSES if sign in ptx), "none")


def accesses(ptx: str, file: str) -> Found:
    """Loads, stores, and whether TMA moves anything.

    Args:
        ptx: the text.
        file: base name of the source whose lines count; what is inlined from another file counts where it is used.
    """
    ours = {number for number, name in FILE.findall(ptx) if name.rpartition("/")[2] == file}
    loads: Counter[tuple[int, int]] = Counter()
    stores: Counter[tuple[int, int]] = Counter()
    line = 0
    for text in ptx.splitlines():
        if place := LOCATION.search(text):
            line = _line(place, ours) or line
        for is_load, bits in _moves(text):
            (loads if is_load else stores)[line, bits] += 1
    return gathered(loads), gathered(stores), bool(BULK.search(ptx))


def gathered(counts: Counter[tuple[int, int]]) -> tuple[Access, ...]:
    """Counts by line and width, in order."""
    return tuple(Access(line=line, bits=bits, count=count) for (line, bits), count in sorted(counts.items()))


def _line(place: re.Match[str], ours: set[str]) -> int:
    """0 where the compiler names no line, or one of another file."""
    file, row, outer, outer_row = place.groups()
    if file in ours:
        return int(row)
    return int(outer_row) if outer in ours else 0


def _moves(text: str) -> Iterator[tuple[bool, int]]:
    """Whether it loads, and the bits of one thread, of each access to global memory in a line of PTX."""
    if "global" not in text:
        return
    if copy := COPY.search(text):
        yield True, 8 * int(copy.group(1), 0)
    for access in ACCESS.finditer(text):
        operation, parts = access.group(1), access.group(2).split(".")[1:]
        if "global" in parts and (bits := _bits(parts)):
            yield operation == "ld", bits


def _bits(parts: list[str]) -> int:
    """Elements times their width; 0 for what is no data."""
    vector = next((int(part[1:]) for part in parts if re.fullmatch(r"v\d", part)), 1)
    for part in reversed(parts):
        if kind := ELEMENT.match(part):
            plain, each, count = kind.groups()
            return vector * (int(plain) if plain else int(each) * int(count))
    return vector * 16 if "bf16" in parts else 0
