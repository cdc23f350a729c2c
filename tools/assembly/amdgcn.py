"""AMD GCN assembly as LLVM prints it for a compute kernel, with its metadata.

Register counts come from the metadata: on CDNA vector and accumulation registers are one file, and `.vgpr_count` has
both. LLVM marks what it spills with comments (`4-byte Folded Spill`); scalar registers that are spilled go to lanes of
vector registers first, which costs no memory.
"""

import re
from collections import Counter, defaultdict

from egg.tools.assembly.compiled import Access, Compiled, Spill
from egg.tools.assembly.ptx import FILE, LOCATION, gathered

FIELD = re.compile(r"^\s*\.(vgpr_count|vgpr_spill_count|private_segment_fixed_size):\s*(\d+)\s*$", re.M)
ACCESS = re.compile(r"^\s*(?:global|buffer|flat)_(load|store|atomic)_(\w+)")
FOLDED = re.compile(r"(\d+)-byte Folded (?:Spill|Reload)")
WIDTHS = (("dwordx4", 128), ("dwordx3", 96), ("dwordx2", 64), ("dword", 32), ("short", 16), ("ushort", 16))
SMALL = (("b128", 128), ("b96", 96), ("b64", 64), ("b32", 32), ("16", 16), ("byte", 8), ("8", 8))


def read(amdgcn: str, file: str) -> Compiled:
    """Registers, spills, matrix instructions and access widths; shared memory and warps are not in the text."""
    fields = {name: int(value) for name, value in FIELD.findall(amdgcn)}
    loads, stores, spilled = _walk(amdgcn, file)
    return Compiled(
        registers=fields.get("vgpr_count", 0),
        spills=4 * fields.get("vgpr_spill_count", 0),
        stack_bytes=fields.get("private_segment_fixed_size", 0),
        tensor_core="mfma" if re.search(r"\bv_s?mfma", amdgcn) else "none",
        loads=loads,
        stores=stores,
        spilled=spilled,
    )


def _walk(text: str, file: str) -> tuple[tuple[Access, ...], tuple[Access, ...], tuple[Spill, ...]]:
    ours = {number for number, name in FILE.findall(text) if name.rpartition("/")[2] == file}
    found: dict[bool, Counter[tuple[int, int]]] = {True: Counter(), False: Counter()}
    sizes: dict[int, list[int]] = defaultdict(list)
    line = 0
    for row in text.splitlines():
        if (place := LOCATION.search(row)) and place.group(1) in ours and int(place.group(2)):
            line = int(place.group(2))
        elif access := ACCESS.match(row):
            if folded := FOLDED.search(row):
                sizes[line].append(int(folded.group(1)))
            elif "lds" not in access.group(2) and (bits := _bits(access.group(2))):
                found[access.group(1) == "load"][line, bits] += 1
        elif folded := FOLDED.search(row):
            sizes[line].append(int(folded.group(1)))
    spilled = (Spill(line=line, bytes=sum(each), count=len(each)) for line, each in sizes.items())
    return gathered(found[True]), gathered(found[False]), tuple(sorted(spilled, key=lambda spill: -spill.bytes))


def _bits(kind: str) -> int:
    known = next((bits for name, bits in WIDTHS if kind.startswith(name)), 0)
    return known or next((bits for name, bits in SMALL if name in kind), 0)
