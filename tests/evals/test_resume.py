"""A results file goes on where it stopped, and not with what belongs to another GPU."""

import json
from pathlib import Path
from typing import Any

import pytest

from egg.evals.resume import Parts
from egg.state.device import Device
from egg.state.errors import UserError
from egg.state.settings import Policy
from egg.tools.device import detect_device

H200 = detect_device("sm_90")


def parts(out: Path, device: Device = H200, version: int = 1) -> Parts:
    return Parts(out, "python -m egg.evals.nothing", device, Policy.STOCK, version)


class Made:
    """Makes parts and counts them."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> dict[str, Any]:
        self.times += 1
        return {"value": self.times}


def test_a_part_that_is_there_is_not_made_again(tmp_path: Path) -> None:
    out, made = tmp_path / "r.json", Made()
    assert parts(out).get("one", made)["value"] == 1
    again = parts(out)
    assert again.get("one", made)["value"] == 1 and made.times == 1
    again.write({"summary": 3})
    told = json.loads(out.read_text())
    assert told["summary"] == 3 and told["parts"]["one"]["value"] == 1
    assert told["device"]["name"] == H200.name and told["command"] == "python -m egg.evals.nothing"


def test_what_a_part_was_made_of_decides_whether_it_is_kept(tmp_path: Path) -> None:
    out, made = tmp_path / "r.json", Made()
    parts(out).get("one", made, ["kernel", {"a": 1}])
    assert parts(out).get("one", made, ["kernel", {"a": 1}])["value"] == 1
    assert parts(out).get("one", made, ["kernel", {"a": 2}])["value"] == 2


def test_another_machine_or_version_begins_anew(tmp_path: Path) -> None:
    out, made = tmp_path / "r.json", Made()
    parts(out).get("one", made)
    assert parts(out, H200.model_copy(update={"uuid": "GPU-2"})).found, "another card of the same kind is as good"
    assert not parts(out, H200.model_copy(update={"driver": "999.1"})).found
    assert not parts(out, version=2).found


def test_parts_that_the_command_no_longer_has_are_dropped(tmp_path: Path) -> None:
    out, made = tmp_path / "r.json", Made()
    first = parts(out)
    first.get("one", made)
    first.get("two", made)
    assert [*Parts(out, "c", H200, Policy.STOCK, 1, ["two", "three"]).found] == ["two"]


def test_what_a_gpu_measured_is_not_overwritten_without_one(tmp_path: Path) -> None:
    out, made = tmp_path / "r.json", Made()
    parts(out, H200.model_copy(update={"present": True, "uuid": "GPU-1"})).get("one", made)
    with pytest.raises(UserError, match="NVIDIA H200 measured, and no GPU is here"):
        parts(out)
    assert json.loads(out.read_text())["parts"]["one"]["value"] == 1


def test_a_broken_file_is_none(tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    out.write_text("{")
    assert not parts(out).found
