"""Answers from a recording: of a run that is a replay, or as a backbone, `replay:RUN`.

A recorded answer belongs to a place in the run (branch, role, round, repair, how many answers before), and to what was
asked there. Where that is another question now, there is no answer: whoever plays a recording must know that it fits.
"""

import json
from pathlib import Path
from typing import Any

from egg.agents.exchange import Exchange, ExchangeLog
from egg.state.backbone import Backbone
from egg.state.errors import UserError
from egg.tools.clock import stand_at
from egg.tools.folders import runs_dir
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
    if not ExchangeLog(folder).path.exists():
        why = "was made before runs could be replayed" if (folder / "exchanges").is_dir() else "asked no model"
        raise UserError(f"{name} {why}: it holds no exchanges.jsonl")
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
            return f"line {number + 1}: recorded {_quoted(line)}, now {_quoted(other)}"
    for name in then.keys() & now.keys():  # the rulebook's brief stands in its own recordings only
        if then[name] != now[name]:
            return f"its {name}: recorded {_quoted(json.dumps(then[name]))}, now {_quoted(json.dumps(now[name]))}"
    return None


def _quoted(line: str | None) -> str:
    if line is None:
        return "nothing"
    return f"`{line.strip()[:SHOWN]}`" if line.strip() else "an empty line"
