"""Launches as a model or a person reads them."""

from typing import Any

import pytest

from egg.agents.brief import brief
from egg.agents.figures import profile_text, search_text
from egg.state.evaluation import Baseline, Launch, StaticProfile
from egg.state.launch import SourceNote, Tried
from egg.state.run import AgentState
from egg.state.search import Parameter, Point, PointStatus, Searched, SearchLimits, SearchResult, SearchSpace
from egg.tools.device import detect_device
from tests.agents.test_prompts import repairing

FACTS: dict[str, Any] = {
    "kernel": "product",
    "grid": (8, 4, 1),
    "warps": 8,
    "stages": 3,
    "registers": 154,
    "spills": 0,
    "shared_bytes": 98304,
    "occupancy": 0.125,
    "limiter": "registers",
    "waves": 0.25,
    "bytes": 2_000_000,
    "tensor_core": "wgmma",
    "estimate_ms": 0.5,
}
CONFIGS = (
    Tried(values={"BM": "64"}, warps=4, stages=3, estimate_ms=0.5, chosen=True),
    Tried(values={"BM": "512"}, warps=8, stages=4, status="does not fit", why="needs more"),
)


def text(**more: Any) -> str:
    profile = StaticProfile(target="sm_90", launches=(Launch(**FACTS | more),), estimate_ms=0.6)
    return profile_text(profile, Baseline(roofline_ms=0.3, bound="memory"), detect_device("sm_90"))


def test_widths_and_calls() -> None:
    assert "product: grid 8x4x1" in text() and "bits" not in text()
    told = text(calls=3, load_bits=128, narrowest_load_bits=16, store_bits=64, narrowest_store_bits=64, bulk=True)
    assert "product 3 times: grid" in told
    assert "loads of 128 bits (some 16), stores of 64 bits, tiles by TMA, tensor cores: wgmma" in told


def test_what_holds_it_back_is_told_in_the_classifiers_words() -> None:
    told = "product: spills (registers): spilled by a thread 64 bytes (≥ 16 bytes); stage tiling."
    assert text(spills=64, grid=(800, 4, 1)).endswith(f"\nBy the estimate: {told}")


@pytest.mark.parametrize("count, told", [(2_000_000, "2 MB"), (999_600_000, "1.0 GB"), (15_000_000_000, "15.0 GB")])
def test_bytes(count: int, told: str) -> None:
    assert f"registers), {told}, tensor cores" in text(bytes=count)


def test_costly_lines_and_configurations() -> None:
    notes = tuple(SourceNote(line=n, text="x = tl.load(p)", why="loads 8 bits a thread") for n in range(9, 19))
    launch = Launch(**FACTS, notes=notes, configs=CONFIGS)
    told = launch.details()
    assert told[0] == "line 9 `x = tl.load(p)` loads 8 bits a thread" and len(told) == 5
    assert told[-1] == "2 configurations, 1 of them cannot be launched; predicted best: BM=64, 4 warps, 3 stages"
    assert f"\n  - {told[0]}\n" in text(notes=notes)
    assert Launch(**FACTS).details() == []


@pytest.mark.parametrize(
    "told, rest",
    [
        ("machine search over r0.tiling.BLOCK: 6 of 24 points (4 pruned)", "18 points were not looked at"),
        ("machine search over r0.tiling.BLOCK: 4 of 4 points (4 compiled)", "all points were looked at"),
    ],
)
def test_after_a_search_it_is_said_what_it_left_untried(told: str, rest: str) -> None:
    assert search_text(told) == (
        f"{told}. Of its space {rest}; values outside it (a larger step) and combinations with another stage's "
        "numbers were not tried. Propose nothing that it tried."
    )


def test_where_nothing_was_searched_nothing_is_said_to_be_settled(state: AgentState) -> None:
    none = Searched(told="machine search: the kernel has no mapping numbers to choose")
    text = brief("profile", AgentState(**{**repairing(state), "searched": none}))[1].text
    assert f"\n\nBefore you were asked: {none.told}.\n" in text and "tried" not in text.split(none.told)[1]


def test_a_searchs_own_sentence_is_understood() -> None:
    parameters = tuple(Parameter(name=f"r0.tiling.{name}", values=(16, 32)) for name in ("BLOCK_M", "BLOCK_N"))
    values = {parameter.name: 16 for parameter in parameters}
    found = SearchResult(
        space=SearchSpace(parameters=parameters),
        target="sm_90",
        measured=False,
        limits=SearchLimits(),
        points=(Point(values=values, status=PointStatus.COMPILED),),
        ranking=(),
        seconds=1.0,
        ended="its cap",
    )
    told = search_text(found.told())
    assert "over r0.tiling.BLOCK_M, r0.tiling.BLOCK_N: 1 of 4 points" in told
    assert "3 points were not looked at" in told
