"""Tools that show what a broken kernel does, and what experts know."""

import json
from difflib import get_close_matches
from typing import Literal

from langchain_core.tools import ToolException, tool

from egg.agents.guidebook import guides
from egg.agents.toolbox.bench import Answer, Runtime, state_of, store_of
from egg.state.record import Record
from egg.tools.correctness import verify

LONGEST = 4000
"""Characters of a probe's answer that a model is shown."""


class Shown(Record):
    """What a probe showed."""

    text: str


@tool(response_format="content_and_artifact")
def probe(runtime: Runtime, kind: Literal["ones", "arange", "normal"]) -> Answer:
    """Run the broken kernel and the reference on small inputs of a kind, and see where their outputs differ."""
    state = state_of(runtime)
    draft = state.get("draft")
    if draft is None:
        raise ToolException("there is no draft to probe")

    def run() -> Shown:
        seen = verify.probe(state["problem"], draft.source, state["device"], state["settings"].policy, kind)
        return Shown(text=json.dumps(seen, default=str)[:LONGEST])

    shown = store_of(state).witness("probe", {"kernel": draft.id, "kind": kind}, Shown, run)
    return shown.text, {"kind": kind}


@tool(response_format="content_and_artifact")
def guide(topic: str) -> Answer:
    """Read an expert guide; the brief lists the topics that fit."""
    found = guides().get(topic)
    if found is None:
        near = get_close_matches(topic, guides(), n=5, cutoff=0.4) or list(guides())[:5]
        raise ToolException(f"no guide on {topic!r}; near it: {', '.join(near)}")
    return f"{found.title}.\n\n{found.text}\n\nHow it is known: {found.verified}.", {"topic": topic}
