"""Brief timings with real processes, on the host's clock where a GPU would be."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from egg.state.errors import MachineError
from egg.state.search import Parameter, PointStatus, SearchLimits, SearchSpace
from egg.state.settings import Policy
from egg.tools.exclusive import shared
from egg.tools.store import Store
from egg.tools.timing.brief import stand
from egg.tools.tune import search
from egg.tools.tune.compiling import Compiled
from egg.tools.tune.search import tune
from tests.tools import timed
from tests.tools.timed import H200, job
from tests.tools.tune.written import WORKLOAD

SOURCE = timed.candidate("for _ in range(TURNS):\n    y = self.honest(x)\nreturn y", "TURNS = 8")


def turning(turns):
    return SOURCE.replace("TURNS = 8", f"TURNS = {turns}")


@pytest.mark.slow
def test_kernels_are_ordered_and_one_that_fails_costs_the_others_nothing():
    sources = {"a": turning(8), "b": turning(1), "broken": timed.candidate("return x + torch.ones(3)")}
    with stand(job()) as bench:
        first = bench.times(sources, 1, 0.1)
        assert first.median_ms["b"] < first.median_ms["a"] and "broken" not in first.median_ms
        assert "torch.ones(3)" in first.failed["broken"]
        kept = bench.workers["b"]
        second = bench.times({"a": sources["a"], "b": sources["b"]}, 2, 0.2)
        assert second.median_ms["b"] < second.median_ms["a"]
        assert bench.workers["b"] is kept and set(bench.workers) == {"a", "b"}
    assert not bench.workers


@pytest.mark.slow
def test_the_gpu_is_kept_for_several_turns_and_nobody_is_set_up_meanwhile():
    """With the locks of a GPU that is there: to ask for one a second time would wait for itself."""
    present = replace(job(), device=H200.model_copy(update={"present": True, "uuid": "GPU-of-this-test"}))
    sources = {"a": turning(8), "b": turning(1), "broken": timed.candidate("return x + torch.ones(3)")}

    def race():
        with stand(present) as bench:
            with bench.together(sources):
                first = bench.times(sources, 1, 0.1)
                with pytest.raises(MachineError), shared(present.device, 0.2):
                    pass
                second = bench.times({"a": sources["a"], "b": sources["b"]}, 1, 0.1)
            with shared(present.device, 5):
                return first, second

    with ThreadPoolExecutor(1) as pool:
        first, second = pool.submit(race).result(timeout=120)
    assert set(first.median_ms) == set(second.median_ms) == {"a", "b"} and "torch.ones(3)" in first.failed["broken"]


@pytest.mark.slow
def test_who_forges_times_is_found_and_the_others_are_timed():
    forging = timed.candidate(
        "import sys\nbench = sys.modules['egg.tools.tasks.timer'].Bench\n"
        "bench.block = lambda self, *a: {'event_ms': 'none', 'apart': []}\nreturn self.honest(x)"
    )
    with stand(job()) as bench:
        both = {"honest": turning(1), "forging": forging}
        with bench.together(both):
            found = bench.times(both, 1, 0.1)
    assert set(found.median_ms) == {"honest"} and "forged" in found.failed["forging"]


@pytest.mark.slow
def test_a_search_that_times_chooses_by_the_clock_and_not_by_the_estimate(tmp_path, monkeypatch):
    """What compiling would say is given, and wrong: these modules have no Triton kernel."""
    monkeypatch.setattr(
        search, "compile_points", lambda problem, sources, *_: {n: Compiled(estimate_ms=1.0) for n in sources}
    )
    space = SearchSpace(parameters=(Parameter(name="TURNS", values=(1, 4, 8, 16)),))
    store, limits = Store(tmp_path, tmp_path / "cache"), SearchLimits(points=4, seconds=300)
    asked = {"space": space, "workload": WORKLOAD, "limits": limits, "job": job()}
    found = tune(timed.problem(), SOURCE, H200, Policy.STOCK, store, **asked)
    assert found.measured and found.best.values == {"TURNS": 1} and found.gain(found.best) > 0.3
    assert all(point.status is PointStatus.TIMED for point in found.points)
    work = (tmp_path / "journal.jsonl").read_text()
    again = tune(timed.problem(), SOURCE, H200, Policy.STOCK, store, **asked)
    assert again.points == found.points and (tmp_path / "journal.jsonl").read_text() == work


@pytest.mark.gpu
def test_on_the_gpu_a_search_finds_the_larger_block(tmp_path):
    from egg.tools.device import detect_device
    from tests.tools.tune.written import PLAIN, PROBLEM

    space = SearchSpace(parameters=(Parameter(name="BLOCK", values=(16, 128, 1024)),))
    found = tune(
        PROBLEM,
        PLAIN.replace("BLOCK = 128", "BLOCK = 16"),
        detect_device(None),
        Policy.STOCK,
        Store(tmp_path),
        space=space,
        workload=WORKLOAD,
        limits=SearchLimits(seconds=120),
    )
    assert found.measured and found.best.values["BLOCK"] > 16 and found.points[0].median_ms
