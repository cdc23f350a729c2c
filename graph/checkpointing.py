"""Savers: one SQLite file for a run of the command or of Python, one for all runs of the LangGraph server.

They read and write the same format, so that a run begun in one place can go on in another.
"""

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any

import aiosqlite
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import StateSnapshot

from egg.state import run
from egg.state.record import Record
from egg.tools.folders import server_checkpoint

LOCK_SECONDS = 60
"""How long to wait for another writer; SQLite's own five seconds are too few with several processes."""


def unfinished(state: StateSnapshot) -> bool:
    """Whether a run that has begun has anything left to do.

    `state.next` does not tell: it is empty, too, when a process died between the end of a node and that of its step.
    """
    return bool(state.tasks)


@contextmanager
def open_saver(path: str | Path) -> Iterator[SqliteSaver]:
    """The saver of one run.

    Raises:
        sqlite3.DatabaseError: the file is no SQLite database, or cannot be opened.
    """
    with closing(sqlite3.connect(path, check_same_thread=False, timeout=LOCK_SECONDS)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        saver = SqliteSaver(connection, serde=serializer())
        saver.setup()
        yield saver


@asynccontextmanager
async def studio_checkpointer() -> AsyncIterator[AsyncSqliteSaver]:
    """The server's saver, which langgraph.json names."""
    path = server_checkpoint()
    path.parent.mkdir(parents=True, exist_ok=True)
    async with aiosqlite.connect(path, timeout=LOCK_SECONDS) as connection:
        saver = AsyncSqliteSaver(connection, serde=serializer())
        await saver.setup()  # sets WAL too
        yield saver


def serializer() -> JsonPlusSerializer:
    """Reads back our records and nothing else: a checkpoint file cannot name other code to import and run."""
    return JsonPlusSerializer(allowed_msgpack_modules=[(t.__module__, t.__name__) for t in _types()])


def _types() -> list[type]:
    """Every record and enumeration of this package that has been imported."""
    found: list[type] = [run.RunInput]
    parents: list[type[Any]] = [Record, StrEnum]
    for parent in parents:  # grows as children are found
        children: list[type[Any]] = [child for child in parent.__subclasses__() if child.__module__.startswith("egg.")]
        found += children
        parents += children
    return found
