"""Widths of global accesses, and matrix instructions, from excerpts of Triton's PTX."""

import pytest

from egg.tools.assembly.compiled import Access
from egg.tools.assembly.ptx import accesses, matrix_class, steadied

MASKED = """
	.loc	1 5 9                           // candidate.py:5:9
	// begin inline asm
	.loc	1 5 9                           // candidate.py:5:9
	mov.u32 %r594, 0x0;
	.loc	1 6 9                           // candidate.py:6:9
	mov.u32 %r595, 0x0;
	.loc	1 7 9                           // candidate.py:7:9
	@%p1 ld.global.v2.b32 { %r594, %r595 }, [ %rd4 + 0 ];

	// end inline asm
	.loc	1 6 22
	ld.global.nc.b16 	%rs1, [%rd22];
	.loc	1 8 5
	// begin inline asm
	@%p2 st.global.v4.b32 [ %rd20 + 0 ], { %r1, %r2, %r3, %r4 };
	// end inline asm
	ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [%r9];
	ld.param.b64 	%rd9, [double_param_2];
	.file	1 "/somewhere/candidate.py"
	.file	2 "standard.py"
"""


def test_lines_and_widths_of_ordinary_accesses() -> None:
    loads, stores, bulk = accesses(steadied(MASKED), "candidate.py")
    assert loads == (Access(line=5, bits=64), Access(line=6, bits=16))
    assert stores == (Access(line=8, bits=128),)
    assert not bulk


def test_the_lines_that_llvm_counts_within_inline_assembly_are_left_out() -> None:
    assert "candidate.py:6:9" not in steadied(MASKED) and "candidate.py:5:9" in steadied(MASKED)
    without = MASKED.replace("// begin inline asm", "")
    assert steadied(without) == without


@pytest.mark.parametrize(
    ("text", "load", "bits"),
    [
        ("cp.async.cg.shared.global [ %r12 + 0 ], [ %rd10 + 0 ], 0x10, %r13;", True, 128),
        ("cp.async.ca.shared.global [ %r12 + 0 ], [ %rd10 + 0 ], 0x4, %r13;", True, 32),
        ("ld.global.L1::evict_last.v8.b32 { %r1 }, [ %rd1 ];", True, 256),
        ("@%p1 ld.global.b8 { %rs1 }, [ %rd1 + 0 ];", True, 8),
        ("ld.acquire.gpu.global.b32 %r1, [%rd1];", True, 32),
        ("red.global.add.f32 [%rd1], %f1;", False, 32),
        ("@%p1 atom.global.gpu.acq_rel.add.noftz.f16x2 %r1, [ %rd1 ], %r2;", False, 32),
    ],
)
def test_one_access(text: str, load: bool, bits: int) -> None:
    loads, stores, _ = accesses(f'.file 1 "candidate.py"\n.loc 1 3 1\n{text}\n', "candidate.py")
    assert (loads if load else stores) == (Access(line=3, bits=bits),)
    assert not (stores if load else loads)


def test_tma_has_no_width() -> None:
    text = (
        "@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2}], [%r3];"
    )
    assert accesses(text, "candidate.py") == ((), (), True)


def test_what_is_inlined_from_elsewhere_counts_where_it_is_used() -> None:
    text = """
.loc	1 4 10
.loc	2 287 12, function_name $L__info_string0, inlined_at 1 6 9
ld.global.b32 %r1, [%rd1];
.loc	2 1 1
ld.global.b32 %r1, [%rd1];
.file	1 "candidate.py"
.file	2 "standard.py"
"""
    loads, _, _ = accesses(text, "candidate.py")
    assert loads == (Access(line=6, bits=32, count=2),)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 ...; mma.sync", "wgmma"),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "mma"),
        ("tcgen05.mma.cta_group::1.kind::f16", "tcgen05"),
        ("fma.rn.f32 %f1", "none"),
    ],
)
def test_matrix_instructions(text: str, kind: str) -> None:
    assert matrix_class(text) == kind
