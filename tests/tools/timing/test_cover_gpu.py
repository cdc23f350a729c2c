"""On a GPU: what a call's time begins with, and what it cannot leave out."""

import pytest

from egg.tools.sandbox.client import Bounds, run

pytestmark = [pytest.mark.gpu, pytest.mark.slow]


def test_no_stream_has_a_head_start_and_launching_is_covered() -> None:
    bounds = Bounds(seconds=120, memory_bytes=64 << 30)
    ms = run("tests.tools.timing.clock_child:calls", {}, bounds).require("timing")
    assert ms["aside"] > 0.95 * ms["plain"] > 0.1
    assert ms["late"] < 0.03
