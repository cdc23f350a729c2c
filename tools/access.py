"""How wide a thread's accesses to device memory are, and which lines of the source cost something."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from egg.state.launch import SourceNote
from egg.tools.assembly.compiled import Access, Compiled
from egg.tools.launched import Job, Seen

MATTERS = 0.01
"""Share of the bytes from which on a width is told."""
NARROW_BITS = 32
"""Below it, a warp's access does not fill a 128-byte line."""
NARROW_SHARE = 0.1
"""Share of the bytes from which on a narrow access is worth a note."""
NOTES = 8


class Widths(NamedTuple):
    """Bits of a thread's access: the commonest by bytes, and the narrowest that matters."""

    commonest: int | None
    narrowest: int | None


def widths(found: Sequence[Access], bytes_by_line: Mapping[int, float]) -> Widths:
    """From instructions and the bytes that the lines they stand on move; instructions count alike if none is known."""
    weights: dict[int, float] = defaultdict(float)
    for line, group in _by_line(found).items():
        moved = bytes_by_line.get(line, 0.0) if any(bytes_by_line.values()) else 1.0
        total = sum(access.bits * access.count for access in group)
        for access in group:
            weights[access.bits] += moved * access.bits * access.count / total
    if not weights:
        return Widths(None, None)
    if not any(weights.values()):
        weights = defaultdict(float, {access.bits: 1.0 for access in found})
    least = MATTERS * sum(weights.values())
    return Widths(max(weights, key=lambda bits: weights[bits]), min(b for b, w in weights.items() if w >= least))


def notes(kernel: Compiled, seen: Seen, job: Job, source: str) -> tuple[SourceNote, ...]:
    """Spills first, then narrow loads and stores; lines of the candidate's file, as far as they are known."""
    text = source.splitlines()

    def note(place: int, why: str) -> SourceNote | None:
        line = job.lines[place - 1] if 0 < place <= len(job.lines) else 0
        return SourceNote(line=line, text=_plain(text[line - 1]), why=why) if 0 < line <= len(text) else None

    told = [note(spill.line, f"spills {spill.bytes} B a thread in {spill.count} accesses") for spill in kernel.spilled]
    for verb, done, accesses, column in (("loads", "loaded", kernel.loads, 0), ("stores", "stored", kernel.stores, 1)):
        moved = {line: both[column] for line, both in seen.by_line.items()}
        for line, group in _by_line(accesses).items():
            bits = widths(group, {}).commonest
            share = moved.get(line, 0.0) / (sum(moved.values()) or 1.0)
            if bits and bits < NARROW_BITS and share >= NARROW_SHARE:
                told.append(note(line, f"{verb} {bits} bits a thread: {share:.0%} of what is {done}"))
    return tuple(each for each in told if each)[:NOTES]


def _by_line(found: Sequence[Access]) -> dict[int, list[Access]]:
    lines: dict[int, list[Access]] = defaultdict(list)
    for access in found:
        lines[access.line].append(access)
    return lines


def _plain(text: str) -> str:
    """As it may stand in a report: what a candidate wrote goes into one piece of code there."""
    return "".join(c for c in text.strip() if c.isprintable()).replace("`", "'")[:120]
