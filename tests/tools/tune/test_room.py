"""Searches side by side share a GPU's memory."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

from egg.tools.device import detect_device
from egg.tools.tune.room import LEAST, room

H200 = detect_device("sm_90")
GIB = 1 << 30
EVERYTHING = H200.memory_bytes // 2 // GIB


def test_nobody_is_promised_more_than_there_is() -> None:
    with room(H200, GIB, 1000) as first:
        assert first == EVERYTHING
    with room(H200, GIB, 24) as first, room(H200, GIB, EVERYTHING - 24) as second:
        assert (first, second) == (24, EVERYTHING - 24)
    with room(H200, 200 * GIB, 24) as few:
        assert few == LEAST
    with room(H200, GIB, 3) as as_asked:
        assert as_asked == 3


def test_who_needs_what_another_has_waits_for_it() -> None:
    inside, leave = Event(), Event()

    def other() -> int:
        with room(H200, GIB, 24) as count:
            inside.set()
            leave.wait(30)
            return count

    with ThreadPoolExecutor(1) as pool:
        with room(H200, GIB, EVERYTHING - 23):
            waiting = pool.submit(other)
            assert not inside.wait(0.3)
        assert inside.wait(30)
        leave.set()
        assert waiting.result() == 24
