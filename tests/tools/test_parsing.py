"""Python's parser is used by one thread at a time."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from egg.tools.parsing import parse, parse_expression

ROOT = Path(__file__).parents[2]
CHILDREN = ROOT / "tools" / "tasks"
"""Processes of one thread."""
DEEP = "x = " + "(" * 60 + "1" + " + 1)" * 60 + "\n"


def test_nobody_goes_around_it() -> None:
    ours = [
        path for part in ("agents", "egg", "evals", "graph", "state", "tools") for path in (ROOT / part).rglob("*.py")
    ]
    around = [path for path in ours if re.search(r"\bast\.parse\(", path.read_text()) and CHILDREN not in path.parents]
    assert [path.name for path in around] == ["parsing.py"]


def test_threads_side_by_side() -> None:
    with ThreadPoolExecutor(8) as pool:
        trees = list(pool.map(lambda _: parse(DEEP * 20), range(40)))
    assert all(len(tree.body) == 20 for tree in trees)


def test_what_is_wrong_is_said_as_ever() -> None:
    with pytest.raises(SyntaxError):
        parse("def f(:")
    assert parse_expression("a + b").body.lineno == 1
