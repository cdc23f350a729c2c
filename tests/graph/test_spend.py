"""What a run without errors spends on a product with an epilogue, and what pruning saves of it.

The model answers as the rulebook does; nobody counts tokens for it, so that they are counted here.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from egg.graph.app import build_graph
from tests.graph.posing import posing  # noqa: F401  a fixture

PROBLEMS = Path(__file__).parents[2] / "evals" / "problems"
pytestmark = pytest.mark.slow


def run(tmp_path: Path, problem: str, url: str, **changes: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    request = {
        "problem_file": str(PROBLEMS / f"{problem}.py"),
        "model": "openai:tiny",
        "base_url": url,
        "seeds": 2,
        "target": "sm_90",
    }
    config = {"configurable": {"thread_id": "t"}, "recursion_limit": 500}
    given = {**request, "run_dir": str(tmp_path / "run"), **changes}
    end = build_graph(InMemorySaver()).invoke(given, config)
    return end, json.loads((tmp_path / "run" / "evidence.json").read_text())


def test_a_product_with_an_epilogue_takes_few_calls_and_tokens(tmp_path: Path, posing: str) -> None:  # noqa: F811
    end, evidence = run(tmp_path, "linear_gelu", posing)
    total = end["usage"].total
    assert end["outcome"].kernel, [decision.why for decision in end["ledger"]]
    assert {attempt.status for attempt in end["attempts"]} == {"ok"}, "no errors"
    assert 0 < total.paid_calls <= 12
    assert total.untold == total.unpriced == total.paid_calls
    assert 0 < total.tokens <= 25_000
    assert evidence["usage"]["total"]["calls"] == total.calls
    stages = evidence["usage"]["by_stage"]
    assert set(stages) == {"baseline", "confirm", "mapping", "memory", "seed-1", "seed-2", "seed-expert", "tiling"}
    assert stages["confirm"]["wall_ms"] > 0
    assert sum(work["gpu_ms"] for work in stages.values()) == 0 or end["device"].present


def test_a_cap_on_money_ends_the_run_well(tmp_path: Path, posing: str, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    table = tmp_path / "prices.toml"
    price = (
        'model = "openai:tiny"\nhost = "127.0.0.1"\ninput = 100\noutput = 100\nsource = "a test"\nread = 2026-12-01\n'
    )
    table.write_text(f"[[price]]\n{price}")
    monkeypatch.setenv("EGG_PRICES", str(table))
    end, evidence = run(tmp_path, "bias_silu_gate", posing, max_usd=0.01, search=False)
    total = end["usage"].total
    assert 1 <= total.paid_calls <= 2, "the first answer of each seed, which were asked for side by side"
    assert total.usd > 0.01 and total.unpriced == 0
    ledger = {decision.stage: decision for decision in end["ledger"]}
    assert "out of budget: money ($0.01)" in ledger["seed-1"].why
    assert ledger["seed-expert"].kernel == end["outcome"].kernel, "what costs nothing is finished all the same"
    assert evidence["outcome"]["ended"] == "out of budget: money ($0.01)"
    assert evidence["prices"][0]["source"] == "a test"


def test_the_last_stage_is_sent_a_small_part_of_what_it_would_be(tmp_path: Path, posing: str) -> None:  # noqa: F811
    end, evidence = run(tmp_path, "layernorm_gelu", posing, search=False)
    stages = {stage["stage"]: stage for stage in evidence["context"]["stages"]}
    assert list(stages) == ["seed-1", "seed-2", "mapping", "tiling", "memory"]
    last = stages["memory"]
    assert 0 < last["sent"] < 0.4 * last["unpruned"]
    own = {name: spend.own_tokens for name, spend in end["usage"].by_agent.items() if spend.calls > spend.free}
    before = sum(tokens for name, tokens in own.items() if not name.startswith("memory"))
    assert last["unpruned"] == last["sent"] + last["calls"] * before, "every earlier message, once for each call"
    assert stages["seed-1"]["sent"] == stages["seed-1"]["unpruned"]
    report = (tmp_path / "run" / "report.md").read_text()
    assert f"| memory | {last['calls']} | {last['sent']} | {last['unpruned']} |" in report
