"""Launches as a model or a person reads them."""

from typing import Any

from egg.agents.figures import profile_text
from egg.state.evaluation import Baseline, Launch, StaticProfile
from egg.state.launch import SourceNote, Tried
from egg.tools.device import detect_device

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


def test_costly_lines_and_configurations() -> None:
    notes = tuple(SourceNote(line=n, text="x = tl.load(p)", why="loads 8 bits a thread") for n in range(9, 19))
    launch = Launch(**FACTS, notes=notes, configs=CONFIGS)
    told = launch.details()
    assert told[0] == "line 9 `x = tl.load(p)` loads 8 bits a thread" and len(told) == 5
    assert told[-1] == "2 configurations, 1 of them cannot be launched; predicted best: BM=64, 4 warps, 3 stages"
    assert f"\n  - {told[0]}\n" in text(notes=notes)
    assert Launch(**FACTS).details() == []
