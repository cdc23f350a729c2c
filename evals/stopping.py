"""How the measuring commands stop."""

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

from egg.tools.sandbox.leave import leave_nothing

INTERRUPTED = 130


def stoppable(main: Callable[[], int]) -> NoReturn:
    """Run it. Being told to end waits for nothing: what is done is in its files, and the same command goes on there."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    raise SystemExit(main())


def _stop(number: int, frame: FrameType | None) -> None:
    try:
        for ours in (signal.SIGINT, signal.SIGTERM):
            signal.signal(ours, signal.SIG_IGN)
        leave_nothing()
        os.write(sys.stderr.fileno(), b"\nStopped.\n")
        sys.stdout.flush()
    finally:  # it may have struck within a print
        os._exit(INTERRUPTED)
