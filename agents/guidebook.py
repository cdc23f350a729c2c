"""The expert guides: short Markdown entries whose front matter says when they apply."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from pydantic import Field

from egg.state.record import Record
from egg.state.stage import StageSpec

FOLDER = Path(__file__).parent / "guides"


class Guide(Record):
    """One entry. What it says was verified somehow, and `verified` says how."""

    topic: str = Field(description="The file's stem")
    title: str
    stages: tuple[str, ...] = Field(description="Decision groups it speaks to: structure, mapping, tiling, memory")
    kinds: tuple[str, ...] = Field(description="Kinds of region it is about; `any` for all")
    targets: tuple[str, ...] = Field(description="GPUs it holds for; `any` for all")
    verified: str = Field(description="How its advice was checked")
    text: str

    def applies(self, spec: StageSpec, kinds: Iterable[str], target: str) -> bool:
        """Whether a stage of this group, on this problem and GPU, should know of it."""
        return (
            spec.group in self.stages
            and (self.kinds == ("any",) or not set(self.kinds).isdisjoint(kinds))
            and (self.targets == ("any",) or target in self.targets)
        )


def read(path: Path) -> Guide:
    """A guide from its file.

    Raises:
        ValueError: if the front matter lacks a field or has one too many.
    """
    _, matter, text = path.read_text().split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in matter.splitlines() if line)
    lists = {name: tuple(fields.pop(name).split(", ")) for name in ("stages", "kinds", "targets") if name in fields}
    return Guide.model_validate({"topic": path.stem, "text": text.strip(), **fields, **lists})


@cache
def guides() -> dict[str, Guide]:
    """All guides by topic."""
    return {path.stem: read(path) for path in sorted(FOLDER.glob("*.md"))}


def applying(spec: StageSpec, kinds: Iterable[str], target: str) -> tuple[Guide, ...]:
    """The guides that apply, by topic."""
    kinds = tuple(kinds)
    return tuple(guide for guide in guides().values() if guide.applies(spec, kinds, target))
