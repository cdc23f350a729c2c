"""What the machine can do, told with a remedy."""

import json
from pathlib import Path

import pytest

from egg.state.finding import Finding
from egg.tools import doctor
from egg.tools.counters import program
from tests.cli.make import egg


def findings(monkeypatch, capsys) -> tuple[int, dict[str, Finding]]:
    code = egg(monkeypatch, "doctor", "--json")
    return code, {f["what"]: Finding.model_validate(f) for f in json.loads(capsys.readouterr().out)}


def test_a_line_for_everything_it_needs(monkeypatch, capsys):
    code, found = findings(monkeypatch, capsys)
    assert code == 0
    assert {"Python", "torch", "triton", "GPU", "isolation", "C compiler", "ncu", "cache", "runs"} <= set(found)
    assert all(f.advice for f in found.values() if f.state == "missing")
    assert "level" in found["isolation"].told


def test_a_package_that_is_missing_ends_with_one(monkeypatch, capsys):
    def version(package: str) -> str:
        if package == "triton":
            raise doctor.PackageNotFoundError(package)
        return "1.0"

    monkeypatch.setattr(doctor, "version", version)
    code, found = findings(monkeypatch, capsys)
    assert code == 1
    assert found["triton"].state == "missing" and "pip install triton" in found["triton"].advice


def test_a_cache_that_cannot_be_written_is_named(monkeypatch, capsys):
    monkeypatch.setenv("EGG_CACHE_DIR", "/proc/egg-cache")
    monkeypatch.setattr(doctor.os, "access", lambda path, mode: not str(path).startswith("/proc"))
    code, found = findings(monkeypatch, capsys)
    assert code == 1 and found["cache"].state == "missing" and "EGG_CACHE_DIR" in found["cache"].advice


@pytest.mark.parametrize(
    ("restricted", "why", "state"), [(1, "no right", "limited"), (0, "", "ok"), (0, "x", "limited")]
)
def test_whether_counters_may_be_read_is_tried(restricted, why, state, tmp_path: Path, monkeypatch):
    parameters = tmp_path / "params"
    parameters.write_text(f"EnableMSI: 1\nRmProfilingAdminOnly: {restricted}\n")
    monkeypatch.setattr(doctor, "PARAMETERS", parameters)
    monkeypatch.setattr(doctor.program, "find", lambda: program.Program("/opt/ncu", ()))
    monkeypatch.setattr(doctor, "uncounted", lambda device: why)
    found = doctor._profiler(present=True)
    assert found.state == state and why in found.told
    assert ("administrator" in found.advice) == bool(restricted and why)
    assert doctor._profiler(present=False).state == "limited"
