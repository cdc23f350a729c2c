"""SASS as nvdisasm prints it with line information: where registers go to local memory and come back."""

import re
from collections import defaultdict

from egg.tools.assembly.compiled import Spill

PLACE = re.compile(r'//## File "([^"]*)", line (\d+)')
LOCAL = re.compile(r"\b(?:STL|LDL)((?:\.\w+)*)\s")
WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}


def spills(sass: str, file: str) -> tuple[Spill, ...]:
    """Stores to and loads from local memory by line of `file` (a base name), most bytes first.

    Of a line that was inlined into another the innermost line of the file counts.
    """
    sizes: dict[int, list[int]] = defaultdict(list)
    line, fresh = 0, True
    for text in sass.splitlines():
        if place := PLACE.search(text):
            ours = place.group(1).rpartition("/")[2] == file
            if fresh:
                line = 0
            line = line or (int(place.group(2)) if ours else 0)
            fresh = False
        elif access := LOCAL.search(text):
            sizes[line].append(next((WIDTHS[part] for part in access.group(1).split(".") if part in WIDTHS), 4))
            fresh = True
        else:
            fresh = True
    found = [Spill(line=line, bytes=sum(each), count=len(each)) for line, each in sizes.items()]
    return tuple(sorted(found, key=lambda spill: -spill.bytes))
