"""What the guides say is so: mistakes are made and mended, code is compiled and read, algebra is computed."""

import json
import math
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from egg.agents.guidebook import applying, guides
from egg.agents.situation import Situation
from egg.state.evaluation import Launch
from egg.state.settings import Policy
from egg.tools.compile import static_profile
from egg.tools.device import detect_device
from egg.tools.errors import CandidateError
from egg.tools.expert import write_kernel
from egg.tools.gate import refusal
from egg.tools.problem import load_problem
from egg.tools.store import Store
from tests.tools.profiled import SCALE, candidate, problem

ROOT = Path(__file__).parents[2]
REFUSED = (
    "arange-power-of-two", "arange-constexpr", "dot-least-size", "dot-inner-size", "dot-one-type",
    "loop-carried-type", "loop-carried-shape", "defined-in-a-branch", "no-break", "no-return-in-a-loop",
    "no-such-function", "no-indexing", "no-slicing", "globals-constexpr", "whole-indices", "load-before-computing",
    "broadcast-shapes", "no-branch-on-a-block", "exp-in-fp32", "fp8-by-generation", "descriptor-least-width",
    "no-lists", "block-of-pointers", "warps-power-of-two",
)  # fmt: skip
WRONG = (
    "mask-tail", "mask-neutral-value", "divide-by-count", "variance-masked", "variance-correction",
    "variance-two-steps", "eps-inside-the-root", "gelu-exact", "softmax-subtract-maximum", "softmax-masked-block",
    "softmax-rescale", "exp2-needs-log2e", "causal-diagonal", "strides", "program-order", "offsets-64-bit",
    "half-compute-in-fp32", "integer-division", "clear-what-is-added-to", "scan-carry",
    "log-of-softmax", "padding-both-edges", "product-inner-tail", "batch-norm-buffers", "argmax-first-of-equals",
    "tanh-overflow", "softplus-overflow", "pooling-count", "int4-sign", "sort-padding", "random-by-element",
    "loss-ignored-targets",
)  # fmt: skip
ALGEBRA = {
    "collapse-products": "collapse-products",
    "recurrent-hoist": "recurrent-hoist",
    "batch-norm-fold": "batch-norm-fold",
    "conv-implicit-product": "conv-implicit-product",
    "conv-transposed-gather": "conv-transposed-gather",
    "attention-split-keys": "attention-split-keys",
    "product-in-halves": "fp16x3",
    "group-norm-statistics": "group-norm-slices",
}
COMPILED = (
    "wgmma-least-tile", "product-tile-blackwell", "product-tile-ampere", "product-tile-ada", "stages-ampere",
    "stages-hopper", "tf32-operand-order", "exact-products", "promotion-is-folded", "dot-chain-waits",
    "sixteen-warps", "async-copy-width", "int8-products", "rounding", "vector-width", "row-registers", "short-rows",
    "index-arithmetic", "stages-need-a-dot", "tma-by-generation", "half-inputs", "transposed-stores",
    "gated-products", "thin-products", "nan-in-maximum", "shared-memory-reads",
)  # fmt: skip
FLOORED = ("accuracy", "exact-products")
"""Guides that name the floor of the error budget of fp32."""
INTERPRETED = ("boolean-of-scalars",)
"""What compiles and the interpreter refuses, since some version after 3.6."""
SHOWN_BY = {
    "argmax-in-blocks": "argmax-first-of-equals",
    "attention-causal": "causal-diagonal",
    "batch-norm-fold": "batch-norm-buffers",
    "cross-entropy-one-pass": "loss-ignored-targets",
    "gather-rows": "offsets-64-bit",
    "half-inputs": "half-compute-in-fp32",
    "int4-unpack": "int4-sign",
    "loss-two-kernels": "clear-what-is-added-to",
    "online-softmax": "softmax-rescale",
    "pooling-windows": "pooling-count",
    "random-numbers": "random-by-element",
    "scan-blocks": "scan-carry",
    "sort-in-registers": "sort-padding",
    "tanh-and-friends": "tanh-overflow",
    "uninitialised-output": "clear-what-is-added-to",
}
"""Guides that rest on another one's kernel."""
RIGHT, ROUNDED = 1e-6, 1e-3
"""Error of a kernel that is right, and of one that has to store halves."""


@cache
def seen(what: str) -> dict[str, Any]:
    """A child's findings: one process looks at all topics."""
    environment = {**os.environ, "TRITON_INTERPRET": "1" if what in ("errors", "interpreter") else "0"}
    command = [sys.executable, "-W", "ignore", "-m", "tests.agents.advice.child", what]
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)
    assert ended.returncode == 0, ended.stderr[-2000:]
    found: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return found


def test_every_refused_kernel_is_looked_at_and_has_its_guide() -> None:
    assert set(seen("refusals")) == set(REFUSED)
    assert {*REFUSED, *WRONG, *ALGEBRA.values(), *COMPILED} <= set(guides())


@pytest.mark.parametrize("topic", REFUSED)
def test_what_the_compiler_refuses_is_recognised_and_the_mending_compiles(topic: str) -> None:
    wrong, mended = seen("refusals")[topic]
    status, said = wrong.split(": ", 1)
    assert status in guides()[topic].statuses and not mended
    told = applying(Situation(group="tiling", status=status, feedback=said))
    assert told and told[0].topic == topic, [guide.topic for guide in told]


@pytest.mark.slow
def test_every_wrong_kernel_and_every_claim_is_looked_at() -> None:
    assert set(seen("errors")) == {*WRONG, *ALGEBRA}


@pytest.mark.slow
@pytest.mark.parametrize("topic", WRONG)
def test_what_computes_the_wrong_thing_is_right_once_mended(topic: str) -> None:
    wrong, mended = seen("errors")[topic]
    allowed = ROUNDED if "half" in topic else RIGHT
    assert mended < allowed < wrong or (math.isinf(wrong) and mended < allowed)


@pytest.mark.parametrize("topic", INTERPRETED)
def test_what_the_interpreter_refuses_is_recognised_and_the_mending_is_right(topic: str) -> None:
    version = tuple(map(int, seen("interpreter")["version"].split(".")[:2]))
    said, mended = seen("interpreter")[topic]
    assert mended < RIGHT and (said or version < (3, 9))
    told = applying(Situation(group="structure", status="runtime_error", feedback=f"line 10: ValueError: {said}"))
    assert not said or told[0].topic == topic


@pytest.mark.slow
@pytest.mark.parametrize("claim", ALGEBRA)
def test_both_sides_are_equal(claim: str) -> None:
    assert seen("errors")[claim][1] < RIGHT


@pytest.mark.slow
@pytest.mark.parametrize("topic", COMPILED)
def test_the_compiled_code_is_as_told(topic: str) -> None:
    assert set(seen("facts")) == set(COMPILED)
    assert seen("facts")[topic] is True


def test_a_guide_that_says_it_was_run_or_compiled_is_among_these() -> None:
    for topic, guide in guides().items():
        claims = {
            "run in Triton": (*WRONG, *INTERPRETED),
            "refused with this message": (*REFUSED, *INTERPRETED),
            "computed in float64": ALGEBRA.values(),
        }
        for words, shown in claims.items():
            if words in guide.verified:
                assert {topic, SHOWN_BY.get(topic, topic)} & {*shown, *WRONG}, (topic, words)


def test_the_floor_that_guides_name_is_the_judges() -> None:
    judges = (ROOT / "tools" / "tasks" / "budget.py").read_text()
    assert "torch.float32: 1e-5," in judges
    assert all("floor" in guides()[topic].text and "1e-5" in guides()[topic].text for topic in FLOORED)


def test_the_judges_own_words_lead_to_the_guide(tmp_path: Path) -> None:
    ragged = SCALE.replace("tl.arange(0, BLOCK)", "tl.arange(0, 100)")
    source = candidate(ragged, "y = torch.empty_like(x)\ndouble[(8,)](x, y, x.numel(), BLOCK=100)\nreturn y")
    with pytest.raises(CandidateError) as refused:
        static_profile(problem(), source, detect_device("sm_90"), Policy.STOCK, Store(tmp_path))
    place = Situation(group="structure", kinds=("pointwise",), status=refused.value.status, feedback=str(refused.value))
    assert applying(place)[0].topic == "arange-power-of-two"
    said = refusal("import numpy\n\nclass ModelNew: pass\n")
    assert said
    place = Situation(group="structure", status=said.status, feedback=said.feedback)
    assert applying(place)[0].topic == "allowed-names"


@pytest.mark.slow
def test_of_the_librarys_attention_tiles_in_tf32x3_the_large_one_spills_and_64x32_does_not(tmp_path: Path) -> None:
    """What guide `attention-tile` says of it: registers, spills, blocks a multiprocessor."""
    attention, device = load_problem(str(ROOT / "evals" / "problems" / "attention_causal.py")), detect_device("sm_90")
    store, policy = Store(tmp_path), Policy.STOCK
    first = write_kernel(attention, policy=policy, device=device, store=store)
    assert "tf32x3" in first.source

    def launch(rows: int, keys: int, warps: int) -> Launch:
        tile = {"BLOCK_M": rows, "BLOCK_N": keys, "num_warps": warps}
        edits = {region.name: {"tiling": tile} for region in first.spec.regions}
        kernel = write_kernel(attention, policy=policy, device=device, store=store, spec=first.spec, edits=edits)
        (only,) = static_profile(attention, kernel.source, device, policy, store).launches
        return only

    small, square, large = launch(64, 32, 4), launch(64, 64, 4), launch(128, 64, 8)
    assert (small.spills, square.spills) == (0, 0) and large.spills > 0
    assert small.registers < 200 < square.registers and small.occupancy == 2 * square.occupancy
