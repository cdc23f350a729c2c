"""PTX counted: loops by the turns that the IR says, statements by what the GPU makes of them."""

import pytest

from egg.tools.instructions import altogether, efforts
from egg.tools.spread import lines_touched

LOOPS = """
.visible .entry kernel(
	mov.u32 	%r1, 0;
	add.s32 	%r2, %r1, 1;
$L__BB0_1:
	ld.global.v4.b32 	{ %r1, %r2, %r3, %r4 }, [ %rd1 + 0 ];
$L__BB0_2:
	@%p1 ex2.approx.f32 	%f1, %f2;
	bar.sync 	0;
	@%p2 bra 	$L__BB0_2;
	add.f32 	%f1, %f1, %f2;
	@%p3 bra 	$L__BB0_1;
$L__BB0_3:
	st.global.b32 	[ %rd2 + 0 ], { %r1 };
	ret;
"""


def test_statements_count_as_often_as_the_loops_around_them_turn() -> None:
    whole = altogether(efforts(LOOPS), (10.0, 3.0))
    assert whole.special == 30 and whole.barriers == 30
    assert whole.instructions == 1 + 10 * (1 + 1) + 30 * (1 + 1) + 1
    assert whole.global_bytes == 10 * 32 * 16 + 32 * 4 and whole.accesses == 11


def test_loops_that_the_ir_does_not_have_turn_once() -> None:
    assert altogether(efforts(LOOPS), (10.0,)).special == 10
    assert altogether(efforts(LOOPS), ()).accesses == 2


@pytest.mark.parametrize(
    ("statement", "field", "amount"),
    [
        ("div.s32 %r1, %r2, %r3;", "instructions", 20),
        ("div.full.f32 %f1, %f2, %f3;", "instructions", 9),
        ("mad.wide.s32 %rd1, %r2, 4, %rd3;", "instructions", 1),
        ("add.s64 %rd1, %rd2, %rd3;", "instructions", 2),
        ("mov.b32 %r1, %r2;", "instructions", 0),
        ("shfl.sync.bfly.b32 %r1, %r2, 16, 31, -1;", "shuffles", 1),
        ("st.shared.v2.b32 [ %r1 ], { %r2, %r3 };", "shared_bytes", 256),
        ("cp.async.cg.shared.global [ %r10 + 0 ], [ %rd19 + 0 ], 0x10, %r212;", "global_bytes", 512),
        ("cp.async.ca.shared.global [ %r10 + 0 ], [ %rd19 + 0 ], 0x4, %r212;", "copies", 1),
        ("wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {%r1}, %rd1, %rd2, %p1, 1, 1, 0, 0;", "product", 512),
        ("wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {%r1}, %rd1, %rd2, %p1, 1, 1, 0, 0;", "product_fed", 768),
        (
            "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%r1}, %rd1, %rd2, %p1, 1, 1, 0, 0;",
            "product_fed",
            2048,
        ),
        ("wgmma.wait_group.sync.aligned 0;", "waits", 1),
    ],
)
def test_what_a_statement_counts_as(statement: str, field: str, amount: float) -> None:
    assert getattr(altogether(efforts(f"\t{statement}\n"), ()), field) == amount


LAYOUT = """
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [8], order = [0]}>
    %v = tt.load %p, %inside, %cst : tensor<1024x!tt.ptr<f32>, #blocked> loc(#loc72)
"""


def test_a_thread_that_cannot_fetch_its_bytes_at_once_touches_more_lines() -> None:
    assert lines_touched(LAYOUT, bytes_moved=8 * 32 * 4, accesses=8) == 4.0
    assert lines_touched(LAYOUT, bytes_moved=2 * 32 * 16, accesses=2) == 1.0
    assert lines_touched("", 0.0, 0.0) == 1.0
