"""Work counted in TTIR written out here as Triton prints it."""

from egg.tools.work import count_work

PRODUCT = """
module {
  tt.func public @mm(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("a"(#loc)), %K: i32 loc("K"(#loc))) {
    %c31_i32 = arith.constant 31 : i32 loc(#loc1)
    %c32_i32 = arith.constant 32 : i32 loc(#loc1)
    %c0_i32 = arith.constant 0 : i32 loc(#loc1)
    %c1_i32 = arith.constant 1 : i32 loc(#loc1)
    %0 = arith.addi %K, %c31_i32 : i32 loc(#loc1)
    %1 = arith.divsi %0, %c32_i32 : i32 loc(#loc2)
    %acc_6 = scf.for %k = %c0_i32 to %1 step %c1_i32 iter_args(%acc = %z) -> (tensor<128x64xf32>)  : i32 {
      %x = tt.load %p : tensor<128x32x!tt.ptr<f32>> loc(#loc3)
      %y = tt.load %q, %m, %cst : tensor<32x64x!tt.ptr<f32>> loc(#loc3)
      %d = tt.dot %x, %y, %acc, inputPrecision = tf32x3 : tensor<128x32xf32> * tensor<32x64xf32> -> tensor<128x64xf32>
      scf.yield %d : tensor<128x64xf32> loc(#loc3)
    } loc(#loc4)
    %e = math.exp %acc_6 : tensor<128x64xf32> loc(#loc5)
    tt.store %r, %e, %m : tensor<128x64x!tt.ptr<f32>> loc(#loc6)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
"""


def test_a_product() -> None:
    work = count_work(PRODUCT, {"K": 100}, (3, 2, 1))
    assert work.dots == {"tf32": 6 * 4 * 2 * 128 * 64 * 32 * 3}
    assert work.load_bytes == 6 * 4 * (128 * 32 + 32 * 64) * 4
    assert work.store_bytes == 6 * 128 * 64 * 4
    assert (work.steps, work.step_bytes) == (4, (128 * 32 + 32 * 64) * 4)
    assert not work.guessed


def test_half_precision_inputs_name_their_unit() -> None:
    halves = PRODUCT.replace("xf32> * tensor<32x64xf32>", "xf16> * tensor<32x64xf16>")
    halves = halves.replace(", inputPrecision = tf32x3", "")
    assert count_work(halves, {"K": 32}, (1,)).dots == {"fp16": 2 * 128 * 64 * 32}
    plain = PRODUCT.replace(", inputPrecision = tf32x3", "")
    assert count_work(plain, {"K": 32}, (1,)).dots == {"fp32": 2 * 128 * 64 * 32}


def test_a_bound_that_is_not_known_is_a_guess() -> None:
    work = count_work(PRODUCT, {}, (1,))
    assert work.guessed and work.steps == 1


def test_persistent_and_causal_loops_are_counted_at_the_middle_program() -> None:
    causal = PRODUCT.replace("%1 = arith.divsi %0, %c32_i32 : i32", "%1 = tt.get_program_id x : i32")
    assert count_work(causal, {"K": 1}, (64,)).steps == 32


def test_a_reduction_region_does_not_unbalance_the_loops() -> None:
    text = PRODUCT.replace(
        "    %e = math.exp",
        '    %s = "tt.reduce"(%acc_6) <{axis = 1 : i32}> ({\n    ^bb0(%u: f32, %v: f32):\n'
        "      %w = arith.addf %u, %v : f32\n      tt.reduce.return %w : f32\n"
        "    }) : (tensor<128x64xf32>) -> tensor<128xf32>\n    %e = math.exp",
    )
    assert count_work(text, {"K": 100}, (3, 2, 1)).store_bytes == 6 * 128 * 64 * 4
