"""GPU time is booked to whoever holds the GPU: once for what is held side by side, and never for waiting."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep

import pytest

from egg.tools.device import detect_device
from egg.tools.exclusive import exclusive, shared
from egg.tools.gpu_time import as_here, booked, take_ms

PRESENT = detect_device("sm_90").model_copy(update={"present": True, "uuid": "GPU-time"})
MINE, OTHER = ("run", "seed-1"), ("run", "seed-2")


@pytest.fixture(autouse=True)
def own_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EGG_CACHE_DIR", str(tmp_path))


def test_what_is_held_is_booked_once_and_taken_once() -> None:
    with booked(MINE):
        with exclusive(PRESENT):
            sleep(0.1)
        with shared(PRESENT), shared(PRESENT):
            sleep(0.1)
        sleep(0.1)
    assert 200 <= take_ms(MINE) < 290
    assert take_ms(MINE) == 0
    with exclusive(PRESENT):  # nobody's
        pass
    assert take_ms(MINE) == take_ms(OTHER) == 0


def test_threads_book_to_the_account_of_the_work_they_do() -> None:
    def check() -> None:
        with shared(PRESENT):
            sleep(0.1)

    with booked(MINE), ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(as_here(check)), pool.submit(as_here(check))]:
            done.result()
    assert 100 <= take_ms(MINE) < 190


def test_waiting_is_not_booked() -> None:
    inside = threading.Event()

    def timing() -> None:
        with booked(OTHER), exclusive(PRESENT):
            inside.set()
            sleep(0.3)

    other = threading.Thread(target=timing)
    other.start()
    inside.wait()
    with booked(MINE), exclusive(PRESENT):
        sleep(0.05)
    other.join()
    assert take_ms(MINE) < 200 <= take_ms(OTHER)


def test_without_a_gpu_none_is_held() -> None:
    with booked(MINE), shared(PRESENT.model_copy(update={"present": False})):
        sleep(0.05)
    assert take_ms(MINE) == 0
