"""Spills by source line, from nvdisasm's output with line information."""

from egg.tools.assembly.compiled import Spill
from egg.tools.assembly.sass import spills

TEXT = """
	//## File "/scratch/candidate.py", line 5
        /*0050*/                   ULDC UR4, c[0x0][0x220] ;
        /*0080*/                   STL [R1+0xd0], RZ ;
        /*0130*/                   STL.64 [R1+0x378], R18 ;
	//## File "/lib/standard.py", line 287 inlined at "/lib/standard.py", line 358
	//## File "/lib/standard.py", line 358 inlined at "/scratch/candidate.py", line 6
	//## File "/scratch/candidate.py", line 6
        /*0160*/                   LDL.LU.64 R18, [R1+0xd8] ;
        /*0170*/                   LDG.E R18, [R2] ;
        /*0180*/               @P0 LDL.S16 R16, [R1+0xd0] ;
	//## File "/lib/standard.py", line 9
        /*0190*/                   STL.128 [R1+0x354], R12 ;
"""


def test_bytes_by_line_most_first() -> None:
    assert spills(TEXT, "candidate.py") == (
        Spill(line=0, bytes=16, count=1),
        Spill(line=5, bytes=12, count=2),
        Spill(line=6, bytes=10, count=2),
    )


def test_nothing_spilled() -> None:
    assert spills(TEXT.replace("STL", "STG").replace("LDL", "LDG"), "candidate.py") == ()
