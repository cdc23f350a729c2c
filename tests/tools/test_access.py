"""Which width is told of a launch, and which lines get a note."""

from typing import Any

from egg.tools.access import notes, widths
from egg.tools.assembly.compiled import Access, Compiled, Spill
from egg.tools.launched import Job, Seen

SOURCE = "a\nb\nv = tl.load(x)\nw = tl.load(`y`)\ntl.store(z, v)\n"
JOB = Job(name="k", ttir="", options={}, lines=(3, 4, 5))
WIDE, NARROW = Access(line=1, bits=128, count=4), Access(line=2, bits=16)


def seen(**by_line: tuple[float, float]) -> Seen:
    facts: dict[str, Any] = dict.fromkeys(("load_bytes", "store_bytes", "alu", "elementwise", "step_bytes"), 0.0)
    lines = {int(name[1:]): both for name, both in by_line.items()}
    return Seen(job=0, kernel="k", grid=(1, 1, 1), stages=1, bytes=0, dots={}, steps=1.0, by_line=lines, **facts)


def test_the_commonest_by_bytes_and_the_narrowest_that_matters() -> None:
    assert widths((WIDE, NARROW), {1: 900.0, 2: 100.0}) == (128, 16)
    assert widths((WIDE, NARROW), {1: 9999.0, 2: 1.0}) == (128, 128)
    assert widths((WIDE, NARROW), {2: 10.0}) == (16, 16)


def test_lines_of_which_nothing_is_known_do_not_hide_widths() -> None:
    assert widths((WIDE, NARROW), {}) == (128, 16)
    assert widths((NARROW,), {1: 8.0}).commonest == 16
    assert widths((), {1: 8.0}) == (None, None)


def test_spills_and_narrow_accesses_are_noted_with_their_line() -> None:
    kernel = Compiled(
        loads=(WIDE, NARROW), stores=(Access(line=3, bits=8),), spilled=(Spill(line=1, bytes=24, count=6),)
    )
    told = notes(kernel, seen(_1=(50.0, 0.0), _2=(50.0, 0.0), _3=(0.0, 7.0)), JOB, SOURCE)
    assert [(note.line, note.text) for note in told] == [
        (3, "v = tl.load(x)"),
        (4, "w = tl.load('y')"),
        (5, "tl.store(z, v)"),
    ]
    assert told[0].why == "spills 24 B a thread in 6 accesses"
    assert told[1].why == "loads 16 bits a thread: 50% of what is loaded"
    assert told[2].why == "stores 8 bits a thread: 100% of what is stored"


def test_what_is_wide_or_does_not_matter_gets_none() -> None:
    kernel = Compiled(loads=(WIDE, NARROW))
    assert notes(kernel, seen(_1=(99.0, 0.0), _2=(1.0, 0.0)), JOB, SOURCE) == ()
    assert notes(Compiled(loads=(Access(line=9, bits=8),)), seen(_9=(1.0, 0.0)), JOB, SOURCE) == ()
