"""The rulebook's rules: a conversation in, one tool call out."""

from typing import Any

import pytest
from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage

from egg.agents.brief import facts
from egg.agents.rulebook import Rulebook
from egg.agents.rulebook.milder import milder, to_torch
from egg.agents.rulebook.profile import another_seeds
from egg.state.run import AgentState
from egg.state.settings import Policy
from egg.tools.expert.spec import KernelSpec, Move, RegionSpec


def region(name: str, kind: str = "pointwise", **groups: Any) -> RegionSpec:
    return RegionSpec(name=name, kind=kind, structure={"name": "s"}, **groups)


def spec(*regions: RegionSpec) -> KernelSpec:
    return KernelSpec(policy=Policy.STOCK, structure="s", regions=regions)


ONE = spec(region("r0", tiling={"BLOCK": 1024, "num_warps": 4}))
TWO = spec(region("r0_add"), region("r1_attention", "attention"))
WIDER = ONE.edited({"r0": {"tiling": {"BLOCK": 4096, "num_warps": 8}}})


def ask(brief: dict[str, Any], *results: tuple[str, dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    """The rulebook's next call after these tool results."""
    messages: list[AnyMessage] = [HumanMessage("text", additional_kwargs={"brief": brief})]
    messages += [ToolMessage("text", name=name, artifact=artifact, tool_call_id="i") for name, artifact in results]
    answer = Rulebook().invoke(messages)
    (call,) = answer.tool_calls
    return call["name"], call["args"]


@pytest.fixture
def brief(state: AgentState) -> dict[str, Any]:
    return facts("code", state)


def test_a_draft_takes_two_calls(brief: dict[str, Any]) -> None:
    assert ask(brief) == ("expert_skeleton", {"structure": "fused_one_pass"})
    name, args = ask(brief, ("expert_skeleton", {"kernel": "a", "ok": True}))
    assert (name, args["source"]) == ("submit_kernel", "a")


def test_what_was_written_and_not_compiled_is_compiled(brief: dict[str, Any]) -> None:
    written = ("expert_skeleton", {"kernel": "a"})
    assert ask(brief, written) == ("compile_kernel", {"source": "a"})
    name, args = ask(brief, written, ("compile_kernel", {"kernel": "a", "ok": True}))
    assert (name, args["source"]) == ("submit_kernel", "a")


def test_a_draft_that_does_not_compile_is_for_the_debug_agent(brief: dict[str, Any]) -> None:
    name, _ = ask(brief, ("expert_skeleton", {"kernel": "a"}), ("compile_kernel", {"kernel": "a", "ok": False}))
    assert name == "submit_kernel"


def test_a_change_that_does_not_compile_is_halved_once(brief: dict[str, Any]) -> None:
    edits = {"r0": {"tiling": {"BLOCK": 4096, "num_warps": 8}}}
    brief |= {"group": "tiling", "decisions": ONE.model_dump(mode="json"), "plan": {"edits": edits, "change": "c"}}
    assert ask(brief) == ("expert_skeleton", {"edits": edits})
    first = (("expert_skeleton", {"kernel": "a"}), ("compile_kernel", {"kernel": "a", "ok": False}))
    halved = {"r0": {"tiling": {"BLOCK": 2048, "num_warps": 4}}}
    assert ask(brief, *first) == ("expert_skeleton", {"edits": halved})
    again = (("expert_skeleton", {"kernel": "b"}), ("compile_kernel", {"kernel": "b", "ok": False}))
    assert ask(brief, *first, *again) == ("submit_kernel", {"source": "b", "rationale": "c"})


def test_a_repair_makes_the_diagnosiss_edits(brief: dict[str, Any]) -> None:
    edits = {"r1": {"structure": {"name": "torch"}}}
    brief |= {"broken": "x", "diagnosis": {"cause": "c", "fix": "f", "edits": edits}, "plan": {"edits": {"no": {}}}}
    assert ask(brief) == ("expert_skeleton", {"edits": edits})


def test_debug_probes_wrong_values_then_gives_the_intricate_region_back(brief: dict[str, Any]) -> None:
    brief |= {
        "role": "debug",
        "broken": "x",
        "broken_decisions": TWO.model_dump(mode="json"),
        "verdict": {"status": "mismatch", "feedback": "all of output 0"},
    }
    assert ask(brief) == ("probe", {"kind": "normal"})
    name, args = ask(brief, ("probe", {}))
    assert name == "submit_diagnosis"
    assert args["edits"] == {"r1_attention": {"structure": {"name": "torch"}}}
    assert "mismatch: all of output 0" in args["cause"]


def test_debug_takes_the_region_that_the_compiler_names(brief: dict[str, Any]) -> None:
    verdict = {"status": "compile_error", "feedback": "line 30, in r0_add_kernel: shape"}
    brief |= {"role": "debug", "broken": "x", "broken_decisions": TWO.model_dump(mode="json"), "verdict": verdict}
    assert ask(brief)[1]["edits"] == {"r0_add": {"structure": {"name": "torch"}}}


@pytest.mark.parametrize("decisions", [None, spec(region("r0")).model_dump(mode="json")])
def test_debug_drops_what_it_cannot_mend(brief: dict[str, Any], decisions: Any) -> None:
    verdict = {"status": "timeout", "feedback": ""}
    brief |= {"role": "debug", "broken": "x", "broken_decisions": decisions, "verdict": verdict}
    assert ask(brief)[0] == "no_fix"


def test_a_seed_does_not_turn_into_another_seeds_structure() -> None:
    to = {
        name: Move(
            group="structure",
            edits={"r0": {"structure": {"name": name}}},
            change=name,
            why="",
            bottleneck="",
            expected_gain=1,
        )
        for name in ("one_pass", "blocked")
    }
    brief = {"seeded": ["one_pass", "online"]}
    assert another_seeds(to["one_pass"], ONE, brief)
    assert not another_seeds(to["blocked"], ONE, brief)
    assert not another_seeds(to["one_pass"], TWO, brief)  # beside other regions that is a mixture of its own


def test_half_way() -> None:
    assert milder(ONE, WIDER, "tiling") == {"r0": {"tiling": {"BLOCK": 2048, "num_warps": 4}}}
    assert milder(ONE, ONE, "tiling") is None
    assert milder(ONE, ONE.edited({"r0": {"tiling": {"num_warps": 8}}}), "tiling") is None
    text = spec(region("r0", memory={"hint": "a", "stages": 2}))
    assert milder(text, text.edited({"r0": {"memory": {"hint": "b"}}}), "memory") is None
    further = text.edited({"r0": {"memory": {"hint": "b", "stages": 5}}})
    assert milder(text, further, "memory") == {"r0": {"memory": {"hint": "a", "stages": 3}}}


def test_the_last_region_is_never_given_back() -> None:
    assert to_torch(ONE, "r0") is None
    gone = TWO.edited({"r0_add": {"structure": {"name": "torch"}}})
    assert to_torch(gone, "") is None


def test_it_plays_no_other_part() -> None:
    with pytest.raises(ValueError, match="carry a brief"):
        Rulebook().invoke("write me a poem")


def test_what_was_searched_is_settled_in_one_call(brief: dict[str, Any]) -> None:
    told = "machine search over num_warps: 4 of 4 points (4 compiled; ...); none is better"
    brief |= {"role": "profile", "group": "tiling", "decisions": ONE.model_dump(mode="json"), "searched": told}
    assert ask(brief) == ("not_worth_it", {"why": told})
