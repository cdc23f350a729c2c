"""Answers from a recording: of a run that is a replay, or as a backbone, `replay:RUN`.

A recorded answer belongs to a place in the run (branch, role, round, repair, how many answers before), and to what was
asked there. Where that is another question now, there is no answer: whoever plays a recording must know that it fits.
"""

import json
from os.path import commonprefix
from pathlib import Path
from typing import Any

from egg.agents.exchange import FILE as EXCHANGES
from egg.agents.exchange import Exchange, ExchangeLog
from egg.state.backbone import Backbone
from egg.state.errors import UserError
from egg.tools.clock import stand_at
from egg.tools.folders import runs_dir
from egg.tools.kept import FILE as RESULTS
from egg.tools.kept import mark_of
from egg.tools.redaction import redacted

SHOWN = 90
"""Characters of a line that a difference quotes."""


class Unmatched(UserError):
    """The recording holds no answer to what is asked now."""


def replayed(run_dir: str, backbone: Backbone, asking: Exchange) -> Exchange | None:
    """The recorded answer, or why there was none; None in a run that asks somebody.

    Raises:
        Unmatched: the recording does not fit: which call, and what is different.
    """
    if mark := mark_of(run_dir):
        found = _recorded(Path(mark.recording), asking, mark.any_prompt)
        stand_at(run_dir, found.elapsed_ms)
    elif backbone.is_replay:
        found = _recorded(recording(backbone.name), asking, any_prompt=False)
    else:
        return None
    taken = {name: getattr(found, name) for name in ("model", "answer", "stopped")}
    return asking.model_copy(update={**taken, "spend": found.spend.as_replayed(), "replayed": True})


def recording(name: str) -> Path:
    """The folder of a recorded run, by its id or path.

    Raises:
        UserError: there is none, or nothing in it can be replayed.
    """
    folder = next((path for path in (runs_dir() / name, Path(name).absolute()) if name and path.is_dir()), None)
    if folder is None:
        raise UserError(f"no run {name or 'named'} to replay: give its id in {runs_dir()}, or its folder")
    if mark := mark_of(folder):
        raise UserError(f"{name} is a replay itself: replay {mark.recording}, the run that it is of")
    if not any((folder / file).exists() for file in (EXCHANGES, RESULTS)):
        older = (folder / "exchanges").is_dir() or (folder / "evidence.json").exists()
        why = "was made before runs could be replayed" if older else "is no run's folder"
        raise UserError(f"{name} {why}: it holds no {EXCHANGES}")
    return folder


def _recorded(folder: Path, asking: Exchange, any_prompt: bool) -> Exchange:
    there = [each for each in ExchangeLog(folder).all() if each.place == asking.place]
    found = next((each for each in reversed(there) if each.answer is not None), there[-1] if there else None)
    if found is None:
        raise Unmatched(f"the recording {folder} ends before {told(asking)}: that was never asked")
    if not any_prompt and (what := difference(found, asking)):
        raise Unmatched(f"the recording {folder} does not fit {told(asking)}: {what}")
    return found


def told(asking: Exchange) -> str:
    """Which call it is, for a person."""
    where = f"round {asking.round + 1}" + (f", repair {asking.repair}" if asking.repair else "")
    return f"call {asking.number + 1} of the {asking.role} agent in {asking.branch} ({where})"


def difference(recorded: Exchange, asking: Exchange) -> str | None:
    """What is asked otherwise now, in a line; None if it is the same."""
    for name in sorted({*recorded.tools, *asking.tools}):
        if name not in asking.tools:
            return f"there is no tool {name} any more"
        if recorded.tools.get(name) != asking.tools[name]:
            return f"the tool {name} is " + ("described otherwise" if name in recorded.tools else "new")
    then, now = list(recorded.asked), json.loads(json.dumps(redacted(asking.asked), default=str))
    for place, (one, other) in enumerate(zip(then, now, strict=False), start=1):
        if what := _otherwise(one, other):
            return f"message {place} of {len(then)} ({one.get('type')}), {what}"
    if len(then) != len(now):
        return f"{len(now)} messages where there were {len(then)}"
    return None


def _otherwise(then: dict[str, Any], now: dict[str, Any]) -> str | None:
    lines, others = str(then.get("text", "")).split("\n"), str(now.get("text", "")).split("\n")
    for number in range(max(len(lines), len(others))):
        line, other = (text[number] if number < len(text) else None for text in (lines, others))
        if line != other:
            return f"line {number + 1}: {_both(line, other)}"
    for name in sorted(then.keys() & now.keys()):  # what only the rulebook reads stands in its own recordings only
        if what := _fields(then[name], now[name], name):
            return f"its {what}"
    return None


def _fields(then: Any, now: Any, path: str) -> str | None:
    """The first field that says another thing. One that is new says nothing of what was asked then."""
    if isinstance(then, dict) and isinstance(now, dict):
        pairs = [(name, then[name], now.get(name)) for name in then]
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        pairs = [(str(place), one, other) for place, (one, other) in enumerate(zip(then, now, strict=True))]
    else:
        return None if then == now else f"{path}: {_both(json.dumps(then), json.dumps(now))}"
    return next((what for name, one, other in pairs if (what := _fields(one, other, f"{path}.{name}"))), None)


def _both(then: str | None, now: str | None) -> str:
    start = max(0, len(commonprefix([then or "", now or ""])) - SHOWN // 3)
    return f"recorded {_quoted(then, start)}, now {_quoted(now, start)}"


def _quoted(line: str | None, start: int) -> str:
    if line is None:
        return "nothing"
    return f"`{line[start : start + SHOWN].strip()}`" if line.strip() else "an empty line"
