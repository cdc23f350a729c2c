"""The one base of everything that is stored in graph state or in a file."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """An immutable value. Unknown fields are refused, so that a misspelt one cannot hide."""

    model_config = ConfigDict(frozen=True, extra="forbid")
