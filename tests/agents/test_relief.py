"""The profile agent's rules: what bottlenecks and headroom make of the expert's moves."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egg.agents.brief import facts
from egg.agents.rulebook.relief import RELIEVED_BY, addressed, relief
from egg.state.bottleneck import Bottleneck, BottleneckKind, Evidence
from egg.state.evaluation import StaticProfile
from egg.state.run import AgentState
from egg.state.settings import Policy
from egg.tools.diagnosis import nothing_left
from egg.tools.expert.spec import KernelSpec, Move, RegionSpec
from tests.agents.test_rulebook import ask

K = BottleneckKind
SPEC = KernelSpec(
    policy=Policy.STOCK,
    structure="fused",
    regions=(
        RegionSpec(
            name="r0_add",
            kind="pointwise",
            structure={"name": "fused"},
            mapping={"programs_per_sm": 0},
            tiling={"BLOCK": 1024, "num_warps": 4},
            memory={"num_stages": 1},
            facts={"elements": 1 << 28, "item_bytes": 4, "row": 1 << 14},
        ),
    ),
)
STATIC = StaticProfile(target="sm_90", launches=(), estimate_ms=1.0).model_dump(mode="json")


def bottleneck(
    kind: BottleneckKind, kernel: str = "r0_add_kernel", limiter: str = "", share: float = 1.0
) -> Bottleneck:
    evidence = (Evidence(figure="f", value=91.0, side="at least", threshold=90.0, unit="%"),)
    stage = None if kind is K.AT_CEILING else "tiling"
    return Bottleneck(kind=kind, kernel=kernel, evidence=evidence, stage=stage, limiter=limiter, share=share)


def move(gain: float, against: str, region: str = "r0_add") -> Move:
    return Move(
        group="tiling", edits={region: {}}, change=f"{gain} {against}", why="", bottleneck=against, expected_gain=gain
    )


@pytest.fixture
def tiling(state: AgentState) -> dict[str, Any]:
    """A brief to the profile agent of the tiling stage, with all figures known."""
    brief = facts("profile", state)
    known = {"group": "tiling", "worth_it": 0.02, "profile": STATIC, "decisions": SPEC.model_dump(mode="json")}
    return {**brief, **known}


def told(*bottlenecks: Bottleneck) -> list[dict[str, Any]]:
    return [b.model_dump(mode="json") for b in bottlenecks]


def test_with_the_verdicts_figures_one_call_is_enough(tiling: dict[str, Any]) -> None:
    name, args = ask(tiling)
    assert name == "submit_plan" and "BLOCK" in args["change"]
    assert ask({**tiling, "profile": None}) == ("static_profile", {})


def test_a_pass_at_its_ceiling_ends_the_stage_at_once(tiling: dict[str, Any]) -> None:
    name, args = ask({**tiling, "bottlenecks": told(bottleneck(K.AT_CEILING, "", "memory")), "headroom": 0.08})
    assert name == "not_worth_it" and "91 %" in args["why"] and "stop" in args["why"]


def test_no_room_below_the_ceilings_ends_it_too(tiling: dict[str, Any]) -> None:
    done = told(bottleneck(K.AT_CEILING, "r0_add_kernel", "memory"))
    assert ask({**tiling, "bottlenecks": done, "headroom": 0.015})[0] == "not_worth_it"
    assert ask({**tiling, "bottlenecks": done, "headroom": 0.3})[0] == "submit_plan"
    assert ask({**tiling, "bottlenecks": done, "headroom": None})[0] == "submit_plan"


def test_the_move_against_what_holds_it_back_comes_first(tiling: dict[str, Any]) -> None:
    """Untold, wide loads are expected to gain most; told that the last wave is part-filled, smaller programs are."""
    _, plain = ask(tiling)
    _, uneven = ask({**tiling, "bottlenecks": told(bottleneck(K.IMBALANCE)), "worth_it": 0.0})
    _, narrow = ask({**tiling, "bottlenecks": told(bottleneck(K.MEMORY_BANDWIDTH))})
    assert "memory bandwidth: f 91 %" in narrow["bottleneck"] and narrow["change"] == plain["change"]
    assert plain["bottleneck"] == "memory"
    assert "imbalance" in uneven["bottleneck"] and uneven["change"] != plain["change"]


def test_counters_are_asked_for_once_and_only_where_times_do_not_tell(tiling: dict[str, Any]) -> None:
    waiting = told(bottleneck(K.MEMORY_LATENCY))
    here = {**tiling, "device": {**tiling["device"], "present": True}, "bottlenecks": waiting}
    assert ask(here) == ("hardware_counters", {})
    assert ask({**here, "bottlenecks": told(bottleneck(K.SPILLS))})[0] == "submit_plan"
    assert ask({**here, "device": tiling["device"]})[0] == "submit_plan"  # nobody can count without a GPU
    seen = {"ok": True, "bottlenecks": told(bottleneck(K.AT_CEILING, "", "memory")), "headroom": 0.05}
    assert ask(here, ("hardware_counters", seen))[0] == "not_worth_it"
    assert ask(here, ("hardware_counters", {"ok": False}))[0] == "submit_plan"


def test_a_structure_at_the_ceiling_of_arithmetic_may_need_less_of_it() -> None:
    memory, compute = (bottleneck(K.AT_CEILING, "", limiter) for limiter in ("memory", "compute"))
    assert nothing_left([memory], 0.05, "structure", 0.1) and nothing_left([compute], 0.05, "tiling", 0.02)
    assert nothing_left([compute], 0.0, "structure", 0.1) is None


def test_every_kind_but_the_last_word_has_a_remedy() -> None:
    assert {*RELIEVED_BY} == {*K} - {K.AT_CEILING}


def test_a_move_relieves_only_its_own_kernels() -> None:
    spills = bottleneck(K.SPILLS, "r1_gemm_product", share=0.6)
    assert addressed(move(0.1, "spills", "r1_gemm"), [spills]) is spills
    assert addressed(move(0.1, "spills", "r1"), [spills]) is spills
    assert addressed(move(0.1, "spills", "r0_add"), [spills]) is None
    assert addressed(move(0.1, "memory", "r1_gemm"), [spills]) is None
    assert relief(move(0.1, "spills", "r1_gemm"), [spills]) == pytest.approx(0.16)


@given(st.floats(0, 0.95), st.sampled_from(sorted(RELIEVED_BY.values())), st.sampled_from(sorted(K)))
def test_relief_is_between_the_gain_and_twice_it(gain: float, against: str, kind: BottleneckKind) -> None:
    proposal = move(gain, against)
    assert gain <= relief(proposal, [bottleneck(kind)]) <= 2 * gain
    assert relief(proposal, []) == gain
