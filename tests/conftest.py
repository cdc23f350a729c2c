"""For all tests: a cache of their own, no keys, no run folder in the checkout; GPU tests only where there is one."""

import shutil
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def isolated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One cache for the whole session, so that a compile is paid for once. Whoever needs an empty one sets it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EGG_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("EGG_RUNS_DIR", str(tmp_path_factory.mktemp("runs")))
        patch.setenv("LANGSMITH_TRACING", "false")
        patch.delenv("OPENAI_API_KEY", raising=False)
        yield
        from egg.tools.sandbox.client import shutdown

        shutdown()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip GPU tests where no GPU is."""
    if shutil.which("nvidia-smi"):
        return
    skip = pytest.mark.skip(reason="needs an NVIDIA GPU")
    for item in items:
        if item.get_closest_marker("gpu"):
            item.add_marker(skip)
