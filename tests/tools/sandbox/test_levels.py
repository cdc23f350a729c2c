"""Honest work passes at every level; a level is what an attack could not do, and never falls in silence."""

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from egg.state.errors import UserError
from egg.state.isolation import Isolation
from egg.tools.sandbox.client import Bounds, run, shutdown
from egg.tools.sandbox.isolation import isolation
from egg.tools.sandbox.layers import LAYERS

ROOT = Path(__file__).parents[3]
PROBLEM = (ROOT / "evals/problems/row_sum.py").read_text()
KERNEL = (ROOT / "tests/tools/sandbox/honest_kernel.py").read_text()
EVERYTHING = "network read write others processes memory disk output environment".split()  # noqa: SIM905


@pytest.fixture(scope="module", autouse=True)
def end_children() -> Iterator[None]:
    yield
    shutdown()


def level(monkeypatch: pytest.MonkeyPatch, asked: str, without: str, *, interpret: bool = True) -> Isolation:
    monkeypatch.setenv("EGG_ISOLATION", asked)
    monkeypatch.setenv("EGG_ISOLATION_WITHOUT", without)
    return isolation(interpret=interpret)


def honest(*, interpret: bool) -> None:
    bounds = Bounds(seconds=60)
    told = run("egg.tools.tasks.problem:examine", {"source": PROBLEM, "name": "row_sum"}, bounds, interpret=interpret)
    assert told.ok, told
    if interpret:
        kernel = run("tests.tools.sandbox.toys:interpret", {"source": KERNEL}, bounds, interpret=True)
        assert kernel.ok and kernel.value == {"right": True}, kernel


@pytest.mark.parametrize("interpret", [True, False], ids=["interpreter", "programs"])
@pytest.mark.parametrize(
    ("asked", "without", "expected", "open_"),
    [
        ("auto", "landlock", 2, []),
        ("auto", "namespaces", 2, []),
        ("auto", "namespaces,network", 2, []),
        ("auto", "capabilities", 2, []),
        ("partial", "namespaces,network,landlock", 1, ["read", "write"]),
        ("none", "", 0, ["network", "read", "write", "others"]),
    ],
)
def test_honest_work_passes(
    asked: str, without: str, expected: int, open_: list[str], interpret: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = level(monkeypatch, asked, without, interpret=interpret)
    assert (found.level, [aspect.what for aspect in found.aspects if not aspect.verified]) == (expected, open_), found
    assert [aspect.what for aspect in found.aspects] == EVERYTHING and found.missing and found.advice
    honest(interpret=interpret)


@pytest.mark.parametrize("interpret", [True, False], ids=["interpreter", "programs"])
def test_the_best_there_is(interpret: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    found = level(monkeypatch, "auto", "", interpret=interpret)
    assert found.level >= 2 and all(aspect.verified for aspect in found.aspects), found
    assert found.level == 3 or (found.missing and found.advice)
    honest(interpret=interpret)


@pytest.mark.parametrize(
    ("asked", "without", "said"),
    [
        ("strong", "namespaces", r"level 2 \(filtered\), EGG_ISOLATION=strong needs level 3.*namespaces: switched off"),
        ("auto", "namespaces,network,landlock", r"level 1 \(partial\).*read is open: file.*EGG_ISOLATION=partial"),
        ("auto", "seccomp", r"level 0 \(none\).*network is open.*EGG_ISOLATION=none"),
        ("partial", "seccomp", r"level 0 \(none\), EGG_ISOLATION=partial needs level 1"),
        ("most", "", "EGG_ISOLATION=most: use one of auto, strong, partial, none"),
        ("auto", "walls", "EGG_ISOLATION_WITHOUT: no layer walls; there are namespaces"),
    ],
)
def test_less_than_asked_for_is_refused(asked: str, without: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EGG_ISOLATION", asked)
    monkeypatch.setenv("EGG_ISOLATION_WITHOUT", without)
    with pytest.raises(UserError, match=said) as refused:
        run("tests.tools.sandbox.toys:echo", {}, interpret=True)
    assert "\n" not in str(refused.value)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
@pytest.mark.parametrize("without", ["", "namespaces,network"])
def test_a_plain_user_is_isolated_too(without: str, tmp_path: Path) -> None:
    python, packages = _readable_python()
    script = (
        "import json; from egg.tools.sandbox.isolation import isolation; from egg.tools.sandbox.client import run\n"
        "found = [isolation(interpret=mode).level for mode in (True, False)]\n"
        f"reply = run('egg.tools.tasks.problem:examine', {{'source': {PROBLEM!r}, 'name': 'row_sum'}})\n"
        "print(json.dumps([found, reply.state, reply.error]))"
    )
    told = subprocess.run(
        [python, "-c", script],
        user=65534,
        group=65534,
        extra_groups=[],
        cwd="/",
        env={"PYTHONPATH": packages, "PATH": "/usr/bin:/bin", "EGG_ISOLATION_WITHOUT": without},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert told.returncode == 0, told.stderr
    levels, state, error = json.loads(told.stdout)
    assert (state, error) == ("done", "")
    assert min(levels) >= 2 and (without or not _namespaces_are_open() or levels == [3, 3])


def test_every_layer_has_a_name_that_can_be_left_out() -> None:
    assert set(LAYERS) == {"namespaces", "network", "landlock", "view", "seccomp", "capabilities"}


def _readable_python() -> tuple[str, str]:
    """A Python that every user may run, of the same version, and where this one's packages are."""
    torch = importlib.util.find_spec("torch")
    assert torch and torch.origin
    packages = f"{ROOT}{os.pathsep}{Path(torch.origin).parents[1]}"
    short = f"{sys.version_info.major}.{sys.version_info.minor}"
    for python in (sys.executable, f"/usr/bin/python{short}"):
        probe = [python, "-c", "import numpy, pydantic"]
        environment = {"PYTHONPATH": packages}
        try:
            done = subprocess.run(probe, user=65534, group=65534, extra_groups=[], cwd="/", env=environment)
        except OSError:
            continue
        if done.returncode == 0:
            return python, packages
    pytest.skip("another user can run no Python of this version, or read its packages")


def _namespaces_are_open() -> bool:
    most = Path("/proc/sys/user/max_user_namespaces")
    return most.exists() and int(most.read_text()) > 0 and isolation(interpret=False).level == 3
