"""How long each piece of work holds a GPU, booked to whoever has it done. Waiting for the GPU is not holding it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from time import monotonic
from typing import ParamSpec, TypeVar

Account = tuple[str, str]
"""Folder of the run, and its stage."""
P = ParamSpec("P")
R = TypeVar("R")

_account: ContextVar[Account | None] = ContextVar("gpu_account", default=None)
_lock = Lock()
_held: dict[Account, int] = {}
_since: dict[Account, float] = {}
_seconds: dict[Account, float] = {}


@contextmanager
def booked(account: Account | None) -> Iterator[None]:
    """What holds the GPU in here is booked to this account."""
    token = _account.set(account)
    try:
        yield
    finally:
        _account.reset(token)


def as_here(work: Callable[P, R]) -> Callable[P, R]:
    """The same work in another thread, booked to the account of this one."""
    account = _account.get()

    def booked_work(*args: P.args, **kwargs: P.kwargs) -> R:
        with booked(account):
            return work(*args, **kwargs)

    return booked_work


@contextmanager
def holding() -> Iterator[None]:
    """The GPU is held in here. What an account holds side by side counts once."""
    account = _account.get()
    if account is None:
        yield
        return
    with _lock:
        _held[account] = _held.get(account, 0) + 1
        _since.setdefault(account, monotonic())
    try:
        yield
    finally:
        with _lock:
            _held[account] -= 1
            if not _held[account]:
                _seconds[account] = _seconds.get(account, 0.0) + monotonic() - _since.pop(account)


def take_ms(account: Account) -> int:
    """Milliseconds since this was last asked, holds that have ended only."""
    with _lock:
        return round(_seconds.pop(account, 0.0) * 1000)


def held_ms() -> int:
    """What the account of this thread has held since it was last asked, so far."""
    with _lock:
        return round(_seconds.get(_account.get() or ("", ""), 0.0) * 1000)


def book(ms: int) -> None:
    """Add time that a recorded run held the GPU to the account of this thread."""
    if ms and (account := _account.get()):
        with _lock:
            _seconds[account] = _seconds.get(account, 0.0) + ms / 1000
