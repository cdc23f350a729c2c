"""A search through the real sandbox and the real compiler, for a GPU that is not here."""

import json
from collections import Counter
from hashlib import sha256

import pytest

from egg.state.candidate import kernel_id
from egg.state.evaluation import Status
from egg.state.problem import Problem
from egg.state.search import Parameter, PointStatus, SearchLimits, SearchSpace
from egg.state.settings import Policy
from egg.tools.device import detect_device
from egg.tools.expert import spec_of, write_kernel, write_variants
from egg.tools.expert.heading import headed
from egg.tools.kernels import Unfinished
from egg.tools.store import Store
from egg.tools.tune import compiling
from egg.tools.tune.apply import Rewritten, code_of, sources, tidy
from egg.tools.tune.kernel import tune_kernel
from egg.tools.tune.search import tune
from egg.tools.workload import analyse
from tests.tools.tune.written import AUTOTUNED, PLAIN, PROBLEM, WORKLOAD

H200 = detect_device("sm_90")
SPACE = SearchSpace(parameters=(Parameter(name="BLOCK", values=(96, 128, 1024)),))
NORM = """
import torch

rows, columns = 2048, 1024


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, -1)


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
"""


def journal(folder):
    lines = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
    return [(line["kind"], line["key"]) for line in lines]


def test_every_point_has_an_outcome_and_a_second_search_does_no_work(tmp_path):
    store = Store(tmp_path, tmp_path / "cache")
    limits = SearchLimits(points=3)
    found = tune(PROBLEM, PLAIN, H200, Policy.STOCK, store, space=SPACE, workload=WORKLOAD, limits=limits)
    assert not found.measured and found.points[0].values == {"BLOCK": 128}
    status = {p.values["BLOCK"]: p for p in found.points}
    assert status[128].status is PointStatus.COMPILED and status[1024].status is PointStatus.COMPILED
    assert status[96].status is PointStatus.FAILED and "power of 2" in status[96].why
    assert found.best.values == {"BLOCK": 1024} and found.gain(found.best) > 0.02
    assert "nothing was timed" in found.told() and "caps 3 points and 60 s" in found.told()

    work = journal(tmp_path)
    again = tune(PROBLEM, PLAIN, H200, Policy.STOCK, store, space=SPACE, workload=WORKLOAD, limits=limits)
    assert again.points == found.points and again.ranking == found.ranking
    assert journal(tmp_path) == work and max(Counter(work).values()) == 1
    assert Counter(kind for kind, _ in work)["point"] == len(found.points)


def test_killed_between_points_it_goes_on(tmp_path, monkeypatch):
    """The process dies with its first point kept: the second life compiles the others alone."""
    store, compiled, done = Store(tmp_path / "run", tmp_path / "cache"), compiling._compiled, []

    def dies(*args):
        if done:
            raise KeyboardInterrupt
        done.append(1)
        return compiled(*args)

    def life():
        tune(PROBLEM, PLAIN, H200, Policy.STOCK, store, space=SPACE, workload=WORKLOAD, limits=SearchLimits(points=3))

    with monkeypatch.context() as patch:
        patch.setattr(compiling, "_compiled", dies)
        patch.setattr(compiling, "CORES", 1)
        with pytest.raises(KeyboardInterrupt):
            life()
    before = journal(tmp_path / "run")
    assert [kind for kind, _ in before].count("point") == 1
    life()
    after = journal(tmp_path / "run")
    assert after[: len(before)] == before and [kind for kind, _ in after].count("point") == 3
    assert max(Counter(after).values()) == 1


def test_an_autotuned_kernel_is_settled_on_one_configuration(tmp_path):
    store = Store(tmp_path, tmp_path / "cache")
    found = tune_kernel(PROBLEM, AUTOTUNED, H200, Policy.STOCK, store, workload=WORKLOAD)
    assert found is not None and found.points[0].values == {"double.config": "all"}
    assert found.points[0].kernel == kernel_id(AUTOTUNED)
    assert found.best.values == {"double.config": 1}
    (source,) = sources(PROBLEM, AUTOTUNED, [found.best.values], H200, Policy.STOCK, store)
    assert source is not None and "configs=CONFIGS[1:2]" in source


def test_a_cap_on_points_is_kept_and_told(tmp_path):
    store = Store(tmp_path, tmp_path / "cache")
    found = tune_kernel(PROBLEM, PLAIN, H200, Policy.STOCK, store, workload=WORKLOAD, limits=SearchLimits(points=2))
    assert found is not None and found.ended == "the cap of 2 points"
    assert sum(point.estimate_ms is not None for point in found.points) == 2


@pytest.fixture(scope="module")
def softmax(tmp_path_factory):
    """An expert kernel, its problem and the store that it was written with."""
    small = NORM.replace("2048, 1024", "24, 37")
    problem = Problem(
        name="softmax", path="-", source=NORM, small_source=small, digest=sha256(NORM.encode()).hexdigest()
    )
    store = Store(None, tmp_path_factory.mktemp("softmax"))
    written = write_kernel(problem, policy=Policy.STOCK, device=H200, structure="one_pass", store=store)
    return problem, tidy(written.source), store


def test_variants_are_what_the_library_writes_one_by_one(softmax):
    problem, source, store = softmax
    spec = spec_of(source)
    name = spec.regions[0].name
    edits = [{}, {name: {"tiling": {"num_warps": 2}}}, {name: {"mapping": {"persistent": True}}}]
    together = write_variants(problem, policy=Policy.STOCK, device=H200, spec=spec, variants=edits, store=store)
    elsewhere = Store(None, store.cache / "apart")
    for edit, one in zip(edits, together, strict=True):
        alone = write_kernel(problem, policy=Policy.STOCK, device=H200, spec=spec, edits=edit, store=elsewhere)
        assert one == alone


def test_an_expert_kernel_is_searched_by_its_decisions(softmax):
    problem, source, store = softmax
    workload = analyse(problem, Policy.STOCK, store)
    found = tune_kernel(problem, source, H200, Policy.STOCK, store, workload=workload, group="tiling")
    assert found is not None
    (name,) = [parameter.name for parameter in found.space.parameters]
    assert name.endswith(".tiling.num_warps") and found.points[0].kernel == kernel_id(source)
    for point in found.points[1:]:
        (written,) = sources(problem, source, [point.values], H200, Policy.STOCK, store)
        assert written is not None and spec_of(written).regions[0].tiling == {"num_warps": point.values[name]}


def test_a_decision_that_the_kernel_does_not_have_yet_is_the_librarys_own_until_it_is_changed(softmax):
    problem, source, store = softmax
    workload = analyse(problem, Policy.STOCK, store)
    found = tune_kernel(problem, source, H200, Policy.STOCK, store, workload=workload, group="mapping")
    assert found is not None and "programs_per_sm" not in spec_of(source).regions[0].mapping
    assert found.points[0].kernel == kernel_id(source) and found.points[0].status is PointStatus.COMPILED
    assert 0 not in found.ranking
    assert any(point.values["r0_softmax.mapping.persistent"] for point in found.points)


def test_a_kernel_changed_by_hand_is_not_written_anew(softmax):
    """Its heading still names the library's decisions, but they are no longer what it does: its tables are searched."""
    problem, source, store = softmax
    workload = analyse(problem, Policy.STOCK, store)
    table = next(line for line in source.splitlines() if "_META = dict(" in line)
    mine = source.replace(table, f"{table}\nMINE = 1")
    assert spec_of(source) is not None and spec_of(mine) is None
    decided = f"{spec_of(source).regions[0].name}.tiling.num_warps"
    said = SearchSpace(parameters=(Parameter(name=decided, values=(2, 4)),))
    found = tune_kernel(
        problem, mine, H200, Policy.STOCK, store, workload=workload, given=said, limits=SearchLimits(points=2)
    )
    assert found is not None and all("_META." in parameter.name for parameter in found.space.parameters)
    assert code_of(source) in source and code_of(source) == code_of("# egg tune: x\n" + source)


def test_a_kernel_of_an_earlier_library_is_not_written_anew(softmax):
    problem, source, store = softmax
    earlier = headed(spec_of(source), code_of(source) + "\nEARLIER = 1\n")
    assert spec_of(earlier) == spec_of(source)
    with pytest.raises(Rewritten):
        sources(problem, earlier, [{}], H200, Policy.STOCK, store)


def test_a_compile_that_did_not_end_is_no_outcome_that_is_kept(tmp_path, monkeypatch):
    """A machine that is busy today may not be tomorrow."""
    store, asked = Store(tmp_path, tmp_path / "cache"), {"kernel": PLAIN}

    def busy(*_):
        raise Unfinished(Status.TIMEOUT, "compiling one kernel takes too long\nmore")

    with monkeypatch.context() as patch:
        patch.setattr(compiling, "static_profile", busy)
        found = compiling.compile_points(PROBLEM, asked, H200, Policy.STOCK, store, lambda: 1.0)
        assert found["kernel"].failed == "compiling one kernel takes too long"
    again = compiling.compile_points(PROBLEM, asked, H200, Policy.STOCK, store, lambda: 1.0)
    assert not again["kernel"].failed and again["kernel"].estimate_ms
