"""What the run's own nodes decide before anything is worked out."""

import pytest

from egg.graph.nodes import _own_folder, left_to_torch
from egg.state.evaluation import Evaluation, StaticProfile, Status
from egg.state.problem import Region
from egg.state.run import RunInput
from egg.state.search import SearchLimits
from egg.state.settings import Policy
from egg.tools.expert.heading import headed
from egg.tools.expert.spec import KernelSpec, RegionSpec
from tests.graph.make import WORKLOAD, candidate

PROFILE = StaticProfile(target="sm_90", launches=(), torch_ops=("empty", "convolution"), estimate_ms=1)


@pytest.fixture(autouse=True)
def runs(tmp_path, monkeypatch):
    monkeypatch.setenv("EGG_RUNS_DIR", str(tmp_path))
    return tmp_path


def test_the_search_is_among_the_settings():
    asked = RunInput(problem_file="p.py", search=False, max_points=5)
    settings = asked.settings
    assert not settings.search and settings.search_limits.most(measured=True) == 5
    assert RunInput(problem_file="p.py").settings.search
    assert [SearchLimits().most(measured) for measured in (True, False)] == [48, 12]


def test_a_thread_keeps_its_folder_when_intake_is_repeated(runs):
    (runs / "mine").mkdir()
    assert _own_folder("mine", "toy") == _own_folder("mine", "toy") == runs / "mine"


def test_a_finished_run_is_not_written_over(runs):
    (runs / "mine").mkdir()
    (runs / "mine" / "evidence.json").touch()
    assert _own_folder("mine", "toy").name.startswith("mine-")


def test_without_a_thread_every_run_has_a_folder_of_its_own(runs):
    first = _own_folder(None, "toy")
    first.mkdir()
    assert first.name.startswith("toy-") and _own_folder(None, "toy") != first


def test_what_stays_pytorch_is_told_whether_the_library_or_a_model_wrote_the_kernel():
    spec = KernelSpec(
        policy=Policy.STOCK,
        structure="fused",
        regions=(
            RegionSpec(name="r0_relu", kind="pointwise", structure={"name": "fused"}),
            RegionSpec(name="r1_sum", kind="reduction", structure={"name": "torch"}),
        ),
    )
    workload = WORKLOAD.model_copy(
        update={
            "regions": tuple(
                Region(name=n, kind=k, ops=()) for n, k in (("t0_conv", "torch"), ("r0_relu", "pointwise"))
            )
        }
    )
    written = candidate(source=headed(spec, "class ModelNew: ...\n"))
    verdict = Evaluation(status=Status.OK, mode="gpu", profile=PROFILE)
    assert left_to_torch(workload, written, verdict) == ("t0_conv", "r1_sum")
    assert left_to_torch(workload, candidate(source="class ModelNew: ..."), verdict) == ("convolution",)
