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
    eighths = halves.replace("xf16> * tensor<32x64xf16>", "xf8E4M3FN> * tensor<32x64xf8E4M3FN>")
    assert count_work(eighths, {"K": 32}, (1,)).dots == {"fp8": 2 * 128 * 64 * 32}
    plain = PRODUCT.replace(", inputPrecision = tf32x3", "")
    assert count_work(plain, {"K": 32}, (1,)).dots == {"fp32": 2 * 128 * 64 * 32}


def test_a_bound_that_is_not_known_is_a_guess() -> None:
    work = count_work(PRODUCT, {}, (1,))
    assert work.guessed and work.steps == 1


def test_single_elements_are_counted_as_often_as_loops_turn() -> None:
    text = """
module {
  tt.func public @k(%x: !tt.ptr<f32>, %n: i32) {
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %a = scf.for %k = %c0_i32 to %n step %c1_i32 iter_args(%w = %z) -> (i32)  : i32 {
      %p = tt.addptr %x, %w : !tt.ptr<i32>, i32
      %v = tt.load %p evictionPolicy = evict_last : !tt.ptr<i32>
      scf.yield %v : i32
    }
    %b = tt.atomic_rmw fadd, acq_rel, gpu, %x, %s, %true : (!tt.ptr<f32>, f32, i1) -> f32
    tt.store %x, %h : !tt.ptr<f16>
  }
}
"""
    work = count_work(text, {"n": 100}, (3,))
    assert (work.load_bytes, work.store_bytes, work.guessed) == (3 * 100 * 4, 3 * (4 + 2), False)


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


def test_bytes_by_line_of_the_source_through_names_and_inlining() -> None:
    text = """
#loc1 = loc("candidate.py":3:0)
#loc7 = loc("left"(#loc1))
#loc8 = loc(callsite(#loc9 at #loc2))
module {
  tt.func public @k(%x: !tt.ptr<f32> loc("x"(#loc1))) attributes {noinline = false} {
    %a = tt.load %p : tensor<128x!tt.ptr<f32>> loc(#loc7)
    %b = tt.load %p : tensor<64x!tt.ptr<f32>> loc(#loc8)
    tt.store %p, %a : tensor<128x!tt.ptr<f32>> loc(#loc2)
    %c = tt.load %p : tensor<32x!tt.ptr<f32>> loc(#loc9)
  } loc(#loc1)
}
#loc2 = loc("candidate.py":4:0)
#loc9 = loc("standard.py":200:0)
"""
    work = count_work(text, {}, (2,), file="candidate.py")
    assert work.by_line == {3: (1024.0, 0.0), 4: (512.0, 1024.0), 0: (256.0, 0.0)}
    assert count_work(text, {}, (2,)).by_line == {}


def test_flops_outside_products_count_reductions_and_no_conversions() -> None:
    text = """
module {
  tt.func public @k(%x: !tt.ptr<f32>) {
    %a = arith.mulf %v, %v : tensor<128xf32>
    %b = arith.truncf %a : tensor<128xf32> to tensor<128xf16>
    %c = math.fma %a, %a, %a : tensor<128xf32>
    %d = math.exp %a : tensor<128xf32>
    %e = "tt.reduce"(%a) <{axis = 0 : i32}> ({
    ^bb0(%l: f32, %r: f32):
      %s = arith.addf %l, %r : f32
      tt.reduce.return %s : f32
    }) : (tensor<128xf32>) -> f32
  }
}
"""
    assert count_work(text, {}, (1,)).elementwise == 128 * (1 + 2 + 1 + 1)
