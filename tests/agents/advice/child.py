"""`python -m tests.agents.advice.child WHAT`: prints JSON of topic -> what was seen. Here torch and triton may be."""

import json
import sys
from pathlib import Path
from typing import Any


def refusals() -> dict[str, Any]:
    """What the judge says of each mistake, and of its mending: nothing."""
    from tests.agents.advice import mistakes_compile
    from tests.agents.advice.lab import verdict

    source = Path(mistakes_compile.__file__).read_text()
    return {topic: [verdict(each, source) for each in pair] for topic, pair in mistakes_compile.CASES.items()}


def errors() -> dict[str, Any]:
    """The error of each mistake's values and of its mending's; for Triton's interpreter."""
    from tests.agents.advice import algebra, mistakes_run

    return {**mistakes_run.tell(), **{topic: [1.0, error] for topic, error in algebra.largest_error().items()}}


def facts() -> dict[str, Any]:
    """Whether the code is as the guide says."""
    from tests.agents.advice.facts import FACTS

    return {topic: look() for topic, look in FACTS.items()}


def interpreter() -> dict[str, Any]:
    """What the interpreter says of each mistake, the error of its mending, and whose interpreter it is."""
    import triton

    from tests.agents.advice import mistakes_interpreter

    return {"version": triton.__version__, **mistakes_interpreter.tell()}


if __name__ == "__main__":
    looks = {look.__name__: look for look in (refusals, errors, facts, interpreter)}
    print(json.dumps(looks[sys.argv[1]]()))
