"""Searches side by side share a GPU's memory."""

from egg.tools.device import detect_device
from egg.tools.tune.room import LEAST, room

H200 = detect_device("sm_90")
GIB = 1 << 30


def test_what_one_search_has_another_has_not() -> None:
    everything = H200.memory_bytes // 2 // GIB
    with room(H200, GIB, 1000) as first, room(H200, GIB, 1000) as second:
        assert first == everything and second == LEAST
    with room(H200, GIB, 24) as first, room(H200, GIB, 1000) as second:
        assert (first, second) == (24, everything - 24)
    with room(H200, 200 * GIB, 24) as few:
        assert few == LEAST
    with room(H200, GIB, 1000) as again:
        assert again == everything
