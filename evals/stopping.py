"""How the commands of this folder start and stop."""

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

from egg.tools.sandbox.leave import leave_nothing

INTERRUPTED = 130


def stoppable(main: Callable[[], int]) -> NoReturn:
    """Run it. Ctrl-C waits for nothing: what has ended is in its files, and the same command goes on from there."""
    signal.signal(signal.SIGINT, _stop)
    raise SystemExit(main())


def _stop(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    leave_nothing()
    print("\nStopped.", file=sys.stderr, flush=True)
    sys.stdout.flush()
    os._exit(INTERRUPTED)
