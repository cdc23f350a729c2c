"""How a program that uses children ends at once, whatever they are at."""

import os
import signal
from contextlib import suppress
from threading import Thread

from egg.tools.sandbox.client import shutdown
from egg.tools.sandbox.removal import remove_all
from egg.tools.sandbox.watch import children

SECONDS = 0.4


def leave_nothing() -> None:
    """No child and no file of theirs. In good order if that is quick: a process that starts up does not listen yet."""
    closing = Thread(target=shutdown, kwargs={"for_good": True}, daemon=True)
    closing.start()
    closing.join(SECONDS)
    for pid in children(os.getpid()):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    closing.join(SECONDS)
    remove_all()
