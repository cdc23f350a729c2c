"""Which rights a profiler is tried with, and that the table says which one it lacked."""

import pytest

from egg.evals import profiler
from egg.evals.profiler import rights, tries
from egg.tools.counters import program
from egg.tools.counters.collect import ASKED
from egg.tools.sandbox.isolation import in_force

LAYERS = ("namespaces", "landlock", "seccomp", "capabilities")


def test_each_layer_and_grant_is_left_out_once() -> None:
    both = list(tries(LAYERS, ladder=False))
    assert [one.name for one in both] == ["no sandbox", "as every candidate"]
    assert not both[0].layers and not both[0].bounds.grants and both[1].bounds.grants == ASKED
    rest = list(tries(LAYERS, ladder=True))[4:]
    assert [set(ASKED) - {*one.bounds.grants} for one in rest[: len(ASKED)]] == [{grant} for grant in ASKED]
    assert [set(LAYERS) - {*one.layers} for one in rest[len(ASKED) :]] == [{layer} for layer in LAYERS]
    assert not next(one for one in rest if "namespaces" not in one.layers).bounds.grants


def test_the_ladder_is_climbed_only_if_the_sandbox_is_in_the_way(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = program.Program("/nowhere/ncu", ())
    outcome: dict[str, int] = {}

    def attempt(one: profiler.Try, found: program.Program, known: frozenset[str]) -> dict[str, object]:
        launches = outcome.get(one.name, 0)
        why = "" if launches else "it did not"
        return {"launches": launches, "counters": [30] * launches, "seconds": 1.0, "why": why, "detail": "==ERROR== x"}

    monkeypatch.setattr(profiler, "attempt", attempt)
    monkeypatch.setattr(profiler, "in_force", lambda interpret: LAYERS)
    monkeypatch.setattr(profiler, "cuda_alone", lambda: "works")
    assert len(rights(found, ladder=False)) == 2, "nothing works: the sandbox is not to blame"
    assert "==ERROR== x" in capsys.readouterr().out
    outcome["no sandbox"] = 2
    assert len(rights(found, ladder=False)) == 4 + len(ASKED) + len(LAYERS)
    outcome["as every candidate"] = 2
    assert len(rights(found, ladder=False)) == 2
    assert len(rights(found, ladder=True)) == 4 + len(ASKED) + len(LAYERS)


def test_a_child_gets_the_layers_of_its_attempt(tmp_path: object) -> None:
    if "seccomp" not in in_force(False):
        pytest.skip("no filter here")
    one = next(tries(in_force(False), ladder=False))
    reply = profiler.in_layers(())("egg.tools.sandbox.canary:nothing", {}, one.bounds)
    assert reply.ok
