"""A kernel that is measured at its ceiling is not searched: nothing is compiled, nothing is timed."""

from egg.graph.search import search
from egg.state.candidate import Candidate
from egg.state.evaluation import Evaluation, StaticProfile, Status
from egg.state.ownership import KernelTime, Ownership
from tests.graph.make import stage_state
from tests.tools.test_bottleneck import STREAM
from tests.tools.tune.written import PLAIN


def measured(share: float, bandwidth: float) -> Evaluation:
    """The verdict on a stream that took this share of the memory ceiling."""
    ms = 1e3 * STREAM.bytes / bandwidth / share
    static = StaticProfile(target="sm_90", launches=(STREAM,), estimate_ms=0.3)
    kernels = (KernelTime(name=STREAM.kernel, ms=ms, calls=1, own=True),)
    own = Ownership(label="triton", share=1.0, own_ms=ms, kernels=kernels, how="cupti")
    return Evaluation(status=Status.OK, mode="gpu", profile=static, ownership=own)


def test_the_search_stops_before_it_begins(tmp_path):
    state = stage_state(run_dir=str(tmp_path))
    verdict = measured(0.99, state["device"].bandwidth)
    state["incumbent"] = Candidate(source=PLAIN, origin="seed-1", structure="one_pass", evaluation=verdict)
    update = search(state)
    assert not update["searching"] and update["draft"] is None
    assert "no search: " in update["searched"].told and "(≥ 92 %): stop" in update["searched"].told
    assert not (tmp_path / "journal.jsonl").exists()
