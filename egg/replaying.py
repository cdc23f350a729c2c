"""Repeat a recorded run offline: no model is asked and nothing is measured, and the result has to be the same."""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from egg.agents.exchange import Exchange, ExchangeLog
from egg.agents.replayed import Unmatched, difference, recording, told
from egg.state.candidate import Attempt
from egg.state.errors import UserError
from egg.state.ledger import Decision
from egg.state.outcome import Outcome
from egg.state.record import Record
from egg.tools.kept import BY, FILE, MARK, Mark, NotRecorded

EVIDENCE = "evidence.json"
SHOWN = 100
"""Characters of a value that a difference quotes."""


class Replay(NamedTuple):
    """What came of a replay."""

    values: dict[str, Any]
    """The state at its end; empty if it did not get there."""
    differences: list[str]
    answers: Counter[str]
    """By what gave them when they were recorded."""
    prompts: list[str]
    """Calls whose prompt is another now."""
    by: str = ""
    """What the recording says of who answered."""

    @property
    def same(self) -> bool:
        return not self.differences


def replay(name: str, *, any_prompt: bool = False, run_dir: str | None = None) -> Replay:
    """Run the recorded run again from its recording. With `any_prompt` answers are given whatever the prompt is now.

    Raises:
        UserError: there is no such run, it is not finished, or it was not recorded.
    """
    folder = _finished(name)
    with _folder(run_dir) as again:
        (again / MARK).write_text(Mark(recording=str(folder), any_prompt=any_prompt).model_dump_json() + "\n")
        try:
            values = _run(again)
        except (Unmatched, NotRecorded) as error:
            return Replay({}, [str(error)], _answers(again), [])
        by = (folder / BY).read_text().strip() if (folder / BY).is_file() else ""
        return Replay(values, differences(folder, again), _answers(again), _other_prompts(folder, again), by)


def differences(recorded: Path, again: Path) -> list[str]:
    """What is not the same: decisions, attempts, the outcome, the kernel delivered. Times at work are not compared."""
    then, now = _evidence(recorded), _evidence(again)
    found = [
        *_between("decision", _by(Decision, then["ledger"], "stage"), _by(Decision, now["ledger"], "stage")),
        *_between("attempt", _by(Attempt, then["attempts"], "id"), _by(Attempt, now["attempts"], "id")),
        *_between("outcome", {"": Outcome(**then["outcome"])}, {"": Outcome(**now["outcome"])}),
    ]
    if (recorded / "kernel.py").read_bytes() != (again / "kernel.py").read_bytes():
        found.append("kernel.py is another")
    return found


def print_replay(result: Replay) -> None:
    """The run's result, and whether it is the same."""
    from egg.results import print_result

    if result.values:
        outcome = result.values["outcome"].model_copy(update={"files": {}})
        print_result({**result.values, "outcome": outcome})
        if result.prompts:
            print(f"Prompts that are others now: {len(result.prompts)}, the first at {result.prompts[0]}.")
    answers = ", ".join(f"{count} of {model}" for model, count in sorted(result.answers.items())) or "none"
    if result.same:
        ledger, attempts, device = (result.values.get(name, ()) for name in ("ledger", "attempts", "device"))
        where = f"on {device.name}" if device.present else f"for {device.name}, in Triton's interpreter"
        print(f"The same: {len(ledger)} decisions, {len({attempt.id for attempt in attempts})} kernels.")
        print(f"Answers are replayed ({answers}); verdicts are quoted as they were {where}. Nothing was asked or run.")
        if result.by:
            print(f"Answered by: {result.by}")
        return
    for line in result.differences:
        print(f"egg: not the same: {line}", file=sys.stderr)


def _finished(name: str) -> Path:
    folder = recording(name)
    if not (folder / EVIDENCE).is_file():
        raise UserError(f"{name} is not finished, so there is no result to compare with: go on with egg resume {name}")
    if not (folder / FILE).is_file():
        raise UserError(f"{name} was made before runs could be replayed: it holds no {FILE}")
    return folder


@contextmanager
def _folder(wanted: str | None) -> Iterator[Path]:
    """The replay's own folder: the one that is wanted, or one that goes away."""
    if wanted is None:
        with TemporaryDirectory(prefix="egg-replay-") as folder:
            yield Path(folder)
        return
    path = Path(wanted).absolute()
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise UserError(f"{wanted} is there already: give another --run-dir")
    path.mkdir(parents=True, exist_ok=True)
    yield path


def _run(folder: Path) -> dict[str, Any]:
    """To its end. What the run is given is in the recording; the name of the problem file is a form."""
    from egg.graph.app import build_graph
    from egg.state.run import RunInput

    config: Any = {"configurable": {"thread_id": folder.name}, "recursion_limit": 1000}
    return dict(build_graph().invoke(RunInput(problem_file="recorded", run_dir=str(folder)), config))


def _evidence(folder: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((folder / EVIDENCE).read_text())
    return told


def _by(type_: type[Record], told: list[dict[str, Any]], name: str) -> dict[str, Record]:
    """Records by name; several of one name are told apart by a number."""
    found: dict[str, Record] = {}
    for each in told:
        record = type_.model_validate(each)
        key = base = str(getattr(record, name))
        count = 1
        while key in found:
            count += 1
            key = f"{base} ({count})"
        found[key] = record
    return found


def _between(kind: str, then: dict[str, Record], now: dict[str, Record]) -> Iterator[str]:
    for name in dict.fromkeys([*then, *now]):
        what = f"{kind} {name}".strip()
        if name not in now:
            yield f"there is no {what} now"
        elif name not in then:
            yield f"{what} is new"
        else:
            one, other = (each[name].model_dump(mode="json") for each in (then, now))
            changed = [field for field in one if one[field] != other[field]]
            yield from (f"{what}, {f}: recorded {_short(one[f])}, now {_short(other[f])}" for f in changed)


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} ..."


def _answers(folder: Path) -> Counter[str]:
    return Counter(each.model for each in ExchangeLog(folder).all() if each.answer is not None)


def _other_prompts(recorded: Path, again: Path) -> list[str]:
    then: dict[Any, Exchange] = {each.place: each for each in ExchangeLog(recorded).all()}
    return [told(now) for now in ExchangeLog(again).all() if difference(then[now.place], now)]
