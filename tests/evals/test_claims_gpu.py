"""The commands that show the claims, each with a small part of its work, on a GPU."""

from pathlib import Path

import pytest

from egg.evals.denied import both
from egg.evals.estimator import predicted, timed
from egg.evals.points import family, problem_of, variants
from egg.evals.search_check import AXES, _different, _every, _last, _search, task
from egg.evals.static_check import _part
from egg.state.device import Device
from egg.tools.device import detect_device
from egg.tools.store import Store
from egg.tools.timing.interleave import Job
from egg.tools.timing.nvml import reader

pytestmark = [pytest.mark.gpu, pytest.mark.slow]


@pytest.fixture(scope="module")
def device() -> Device:
    return detect_device(None)


def test_points_are_predicted_and_timed(device: Device, tmp_path: Path) -> None:
    one = family("honest_softmax")
    problem, store = problem_of(one), Store(cache=tmp_path)
    chosen = [variants(one, problem, device, store)[place] for place in (0, -1)]
    rows = predicted(one, problem, chosen, device, store)
    job = Job(problem, device, one.policy, reader(device.uuid))
    first, last = timed(job, rows, {v.name: v.source for v in chosen if v.source})
    assert first["estimate_ms"] < last["estimate_ms"] and first["median_ms"] < last["median_ms"]


def test_what_compiling_tells_is_what_is_counted(device: Device, tmp_path: Path) -> None:
    part = _part(("softmax_long", "split"), device, Store(cache=tmp_path))
    assert len(part["kernels"]) >= 2 and not any(row["differs"] for row in part["kernels"])
    assert all(row["compared"] for row in part["kernels"]) or part["note"], "or it says why not"


def test_a_search_of_few_points_and_all_of_them(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = {name: values[-2:] if "stages" in name else (values[-1],) for name, values in AXES.items()}
    monkeypatch.setattr("egg.evals.search_check.AXES", few | {"tiling.BLOCK_K": (32,)})
    of = task(device, Store(cache=tmp_path))
    found = _search(of)
    assert found["measured"] and len(_different(of, found)[0]) >= 1
    every = _every(of, found)
    assert _last(of, found, every)["behind"] < 0.1


def test_a_run_without_the_right_to_count_goes_on(device: Device) -> None:
    found = both("row_max", device, None)
    assert found["without"]["kernel"] and "may not read the GPU's counters" in found["without"]["note"]
    assert found["behind"] is not None and found["behind"] < 0.1
