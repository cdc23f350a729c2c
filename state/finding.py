"""What one look at the machine came to."""

from typing import Literal

from pydantic import Field

from egg.state.record import Record


class Finding(Record):
    """One thing that EGG can use, and what to do where it cannot."""

    what: str = Field(description="`GPU`, `isolation`, ...")
    state: Literal["ok", "limited", "missing"] = Field(description="`missing`: EGG cannot do its work without it")
    told: str
    advice: str = Field("", description="What to do about it; empty where nothing need be done")
