"""Drive a run to its end and show it. The graph has a thread of its own, so that Ctrl-C waits for nothing it does."""

import json
import os
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from egg.answering import answered, ask, at_terminal, leave_waiting
from egg.live import View, view
from egg.progress import Progress
from egg.session import Run, create, discard, find, locked, opened, requested
from egg.state.errors import UserError
from egg.tools.redaction import redacted
from egg.tools.sandbox.client import prepare
from egg.tools.sandbox.leave import leave_nothing

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.types import Command, StateSnapshot

    from egg.state.backbone import Backbone
    from egg.state.run import RunInput

OTHER_MODEL = "other_model.json"
"""In the run's folder: the backbone that a resumed run goes on with."""
TICK_SECONDS = 0.1
INTERRUPTED = 130


def start(request: "RunInput") -> dict[str, Any]:
    """A new run, to its end. If it fails before anything worth keeping was done, it leaves no trace."""
    run: Run | None = None
    try:
        with _undisturbed():  # once its folder is there, the run has a name to say
            run, request = create(request, Path(request.problem_file).stem)
        prepare(interpret=False)  # they load PyTorch while this process loads the graph
        if not shutil.which("nvidia-smi"):
            prepare(interpret=True)
        return _drive(run, request)
    except KeyboardInterrupt:
        if run is None:
            raise
        _stop(run)
    except UserError as error:
        if run is None:
            raise
        if _worth_keeping(run):
            onward = f"egg resume {_reference(run)}, with another --model if need be"
            raise UserError(f"{error}. What was done is kept: {onward}") from None
        discard(run)
        raise


def resume(
    name: str, instead: "Backbone | None" = None, answers: Sequence[str] = (), no_pause: bool = False
) -> dict[str, Any]:
    """Go on with an interrupted run, perhaps with another model, with answers to what it asks, or asked nothing.

    Raises:
        UserError: no such run, it is finished, another process has it, no model plays it, or it did not ask that.
    """
    run = find(name)
    try:
        return _drive(run, None, instead, answers, no_pause)
    except KeyboardInterrupt:
        _stop(run)


def _drive(
    run: Run,
    request: "RunInput | None",
    instead: "Backbone | None" = None,
    answers: Sequence[str] = (),
    no_pause: bool = False,
) -> dict[str, Any]:
    from langgraph.types import Command

    from egg.agents.backbone import INSTEAD
    from egg.graph.pausing import NO_PAUSE
    from egg.state.backbone import Roles

    with ExitStack() as stack:
        if run.folder:  # before the checkpoint is opened: what is read must be what is continued
            stack.enter_context(locked(run.folder, run.id))
        graph, config = stack.enter_context(opened(run))
        state = graph.get_state(config)
        if request is None:
            request = _rest(run, state)
        if run.folder is None and state.values.get("run_dir"):
            folder = Path(state.values["run_dir"])
            folder.mkdir(parents=True, exist_ok=True)
            stack.enter_context(locked(folder, run.id))
        other = _other_model(run, state.values, instead)
        if request is not None and other is not None:
            request = request.model_copy(update={**dict(other), "roles": Roles()})
        elif other is not None:
            config["configurable"] = {**config["configurable"], INSTEAD: other.model_dump(mode="json")}
        if no_pause:
            config["configurable"] = {**config["configurable"], NO_PAUSE: True}
        progress = Progress()
        progress.restore(state.values)
        given: RunInput | Command[Any] | None = request
        if answers:
            given = Command(resume=answered(answers, state.interrupts))
        while True:
            with view(run.id, progress) as screen:
                _watch(run, screen, graph, config, given)
            state = graph.get_state(config)
            if not state.interrupts:
                return dict(state.values)
            said = ask(state.interrupts, state.values["run_dir"]) if at_terminal() else None
            if said is None:
                leave_waiting(_reference(run), state.interrupts, state.values["run_dir"])
            given = Command(resume=said)


def _rest(run: Run, state: "StateSnapshot") -> "RunInput | None":
    """The input to go on with: none, or the first one again if the run ended before intake had settled it."""
    from egg.graph.checkpointing import unfinished
    from egg.state.run import RunInput

    if unfinished(state) and "settings" in state.values:
        return None
    if "outcome" in state.values:
        raise UserError(f"run {run.id} is finished: `egg show {run.id}` shows it, `egg optimize` starts another")
    if "problem_file" in state.values:  # of a server's run there is no file, and of any a file holds no passwords
        return RunInput(**{name: state.values[name] for name in RunInput.model_fields if name in state.values})
    if asked := requested(run):
        return RunInput.model_validate(asked)
    raise UserError(f"run {run.id} holds no checkpoint to go on from: start it again with `egg optimize`")


def _other_model(run: Run, values: dict[str, Any], instead: "Backbone | None") -> "Backbone | None":
    """What the run is to go on with: what is asked for now, or was when it was resumed before.

    Raises:
        UserError: no model plays it.
    """
    from egg.state.backbone import Backbone

    folder = run.folder or (Path(values["run_dir"]) if values.get("run_dir") else None)
    if instead is not None:
        if "settings" in values and not values["settings"].with_model:
            raise UserError(f"no model plays run {run.id}: start another with `egg optimize --model`")
        if folder:
            (folder / OTHER_MODEL).write_text(json.dumps(redacted(instead.model_dump(mode="json")), indent=2) + "\n")
    elif folder and (folder / OTHER_MODEL).is_file():
        return Backbone.model_validate_json((folder / OTHER_MODEL).read_text())
    return instead


def _watch(
    run: Run,
    screen: View,
    graph: "CompiledStateGraph[Any]",
    config: "RunnableConfig",
    given: "RunInput | Command[Any] | None",
) -> None:
    """Stream in a thread, draw here. Raises what the graph raised."""
    events: SimpleQueue[Any] = SimpleQueue()

    def work() -> None:
        try:
            for event in graph.stream(
                given,
                config,
                stream_mode=["tasks", "updates", "custom"],
                subgraphs=True,
                version="v2",
                durability="sync",
            ):
                events.put(event)
        except BaseException as error:  # carried to the thread that can show it
            events.put(error)
        finally:
            events.put(None)

    previous = signal.signal(signal.SIGTERM, _terminate)
    try:
        Thread(target=work, name="run", daemon=True).start()
        for event in _until_none(events, screen):
            if isinstance(event, BaseException):
                raise event
            screen.feed(event)
    except KeyboardInterrupt:
        _stop(run, screen)
    finally:
        signal.signal(signal.SIGTERM, previous)


def _until_none(events: SimpleQueue[Any], screen: View) -> Iterator[Any]:
    while True:
        try:
            event = events.get(timeout=TICK_SECONDS)
        except Empty:
            screen.tick()
            continue
        if event is None:
            return
        yield event


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Ctrl-C waits until the end of the block."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _terminate(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _stop(run: Run, screen: View | None = None) -> NoReturn:
    """Leave at once: what was finished is in the checkpoint, as after any crash."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if screen:
        screen.close()
    leave_nothing()
    print(f"\nStopped. Go on with: egg resume {_reference(run)}", file=sys.stderr, flush=True)
    sys.stdout.flush()
    os._exit(INTERRUPTED)


def _reference(run: Run) -> str:
    """How a user names the run: by id where `egg resume` finds it by that, else by folder."""
    from egg.tools.folders import runs_dir

    return run.id if run.folder is None or run.folder.parent == runs_dir() else str(run.folder)


def _worth_keeping(run: Run) -> bool:
    """Whether a model was paid or a kernel written."""
    return run.folder is not None and any((run.folder / name).exists() for name in ("exchanges.jsonl", "kernels"))
