"""Halving by a stand whose true times are known, with the real store: what it finds, and what it never does twice."""

import json
from collections import Counter
from contextlib import contextmanager
from random import Random

import pytest

from egg.state.errors import MachineError
from egg.tools.store import Store
from egg.tools.timing.brief import Times
from egg.tools.tune.halving import FINAL, FINALISTS, RUNGS, Race, halve

NAMES = [f"k{number:02}" for number in range(20)]


class Bench:
    """True times with noise that fewer rounds leave more of. `dies_at`: the turn in which the process is killed."""

    def __init__(self, true_ms, dies_at=None, failing=(), seed=0):
        self.true_ms, self.dies_at, self.failing = true_ms, dies_at, failing
        self.random = Random(seed)
        self.turns = []
        self.closed = 0
        self.held = []

    def times(self, sources, rounds, share):
        if len(self.turns) == self.dies_at:
            raise KeyboardInterrupt
        self.turns.append((tuple(sources), rounds, share))
        drift = self.random.uniform(0.8, 1.2)  # of the clock from turn to turn
        noise = 0.01 / rounds
        ran = {name: self.true_ms[name] * drift * self.random.gauss(1, noise) for name in sources}
        failed = {name: "illegal memory access" for name in sources if name in self.failing}
        return Times({name: ms for name, ms in ran.items() if name not in failed}, failed)

    @contextmanager
    def together(self, sources):
        self.held.append(set(sources))
        yield

    def close(self):
        self.closed += 1


def race(at_once=24):
    return Race({name: f"source of {name}" for name in NAMES}, "k00", {"gpu": "g"}, at_once)


def true_times(best="k13"):
    random = Random(7)
    return {name: random.uniform(1.1, 1.6) for name in NAMES} | {"k00": 1.2, best: 1.0, "k05": 1.04}


def journal(folder):
    lines = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
    return [(line["kind"], line["key"]) for line in lines]


def forever():
    return 1e9


@pytest.mark.parametrize("at_once", [24, 7])
def test_the_best_is_found_though_the_clock_drifts_between_turns(tmp_path, at_once):
    bench = Bench(true_times())
    known, best = halve(race(at_once), NAMES[1:], bench, Store(tmp_path, tmp_path / "cache"), forever)
    assert best[0] == "k13" and "k00" in best and len(best) == FINALISTS
    assert known["k13"].ratio == pytest.approx(1.0 / 1.2, rel=0.02) and known["k13"].rounds == FINAL.rounds
    assert all("k00" in names for names, _, _ in bench.turns)  # every turn has the kernel as it is to compare with
    assert all(len(names) <= at_once for names, _, _ in bench.turns)
    asked = Counter(rounds for names, rounds, _ in bench.turns for name in names if name != "k00")
    assert asked[RUNGS[0].rounds] == 19 and asked[RUNGS[1].rounds] == 10 and asked[RUNGS[2].rounds] == 5
    assert bench.closed == 1  # the last comparison is in new processes
    assert bench.held == ([set(NAMES)] if at_once == 24 else [])  # the GPU is kept where all fit


def test_killed_in_any_turn_it_goes_on_and_times_nothing_twice(tmp_path):
    whole = Bench(true_times())
    _, calm = halve(race(7), NAMES[1:], whole, Store(tmp_path / "calm", tmp_path / "cache-calm"), forever)
    for turn in range(len(whole.turns)):
        run = tmp_path / f"killed-{turn}"
        store = Store(run, tmp_path / f"cache-{turn}")
        first, second = Bench(true_times(), dies_at=turn), Bench(true_times(), seed=1)
        with pytest.raises(KeyboardInterrupt):
            halve(race(7), NAMES[1:], first, store, forever)
        _, best = halve(race(7), NAMES[1:], second, store, forever)
        assert best[0] == calm[0]
        assert len(first.turns) + len(second.turns) == len(whole.turns)
        assert max(Counter(journal(run)).values()) == 1
        assert Counter(kind for kind, _ in journal(run)) == Counter(kind for kind, _ in journal(tmp_path / "calm"))


def test_a_point_that_fails_on_the_gpu_is_out(tmp_path):
    bench = Bench(true_times(), failing=("k13",))
    known, best = halve(race(), NAMES[1:], bench, Store(tmp_path, tmp_path / "cache"), forever)
    assert best[0] == "k05" and known["k13"].failed == "illegal memory access" and known["k13"].ratio is None
    assert sum("k13" in names for names, _, _ in bench.turns) == 1


def test_the_kernel_as_it_is_must_run(tmp_path):
    with pytest.raises(MachineError, match="k00, cannot be timed: illegal"):
        halve(race(), NAMES[1:], Bench(true_times(), failing=("k00",)), Store(tmp_path, tmp_path / "c"), forever)


def test_out_of_time_the_finalists_are_the_best_of_what_is_known(tmp_path):
    bench = Bench(true_times())
    _, best = halve(race(), NAMES[1:], bench, Store(tmp_path, tmp_path / "c"), lambda: 1.0 if not bench.turns else 0.0)
    assert [rounds for _, rounds, _ in bench.turns] == [RUNGS[0].rounds, FINAL.rounds]
    assert best[0] == "k13"


def test_nothing_to_time_against(tmp_path):
    _, best = halve(race(), [], Bench(true_times()), Store(tmp_path, tmp_path / "c"), forever)
    assert best == ["k00"]


def test_what_is_few_is_compared_at_once(tmp_path):
    bench = Bench(true_times())
    _, best = halve(race(), ["k13", "k05", "k07"], bench, Store(tmp_path, tmp_path / "c"), forever)
    assert best[0] == "k13" and [rounds for _, rounds, _ in bench.turns] == [FINAL.rounds] and not bench.held


def test_a_failure_that_may_pass_is_not_kept(tmp_path):
    store = Store(tmp_path, tmp_path / "cache")
    halve(race(), NAMES[1:], Bench(true_times(), failing=("k13",)), store, forever)
    again = Bench(true_times())
    known, _ = halve(race(), NAMES[1:], again, store, forever)
    assert known["k13"].ratio and again.turns[0][0] == ("k00", "k13")
