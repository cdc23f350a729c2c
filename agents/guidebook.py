"""The expert guides: short Markdown entries whose front matter says when they apply. Chosen by data, never by a model.

A facet that a guide leaves out holds for all. What it names narrows it: the narrower, the earlier it is told.
"""

import re
from functools import cache
from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from egg.agents.situation import DRAFTING, Situation
from egg.state.record import Record

FOLDER = Path(__file__).parent / "guides"
ANY = ("any",)
MOST = 8
"""Guides that a brief lists."""

WEIGHTS = {"bottlenecks": (12, 2), "kinds": (3, 6), "targets": (2, 1), "policies": (2, 1), "dtypes": (1.5, 1)}
"""How much more fitting a guide is for naming a facet: for naming it at all, and shared among what it names."""
SAYS = 20.0
"""The same for knowing the judge's words."""
LISTS = ("stages", "statuses", "bottlenecks", "kinds", "targets", "policies", "dtypes")


class Guide(Record):
    """One entry. What it says was verified somehow, and `verified` says how."""

    topic: str = Field(description="The file's stem")
    title: str = Field(description="The advice in one line")
    stages: tuple[str, ...] = Field(description="Decision groups it speaks to: structure, mapping, tiling, memory")
    kinds: tuple[str, ...] = Field(description="Operator classes it is about")
    targets: tuple[str, ...] = Field(description="GPUs that it holds for")
    bottlenecks: tuple[str, ...] = Field(description="What has to hold the kernel in force back")
    policies: tuple[str, ...] = Field(ANY, description="Floating-point policies it holds under")
    dtypes: tuple[str, ...] = Field(ANY, description="Of the module's inputs and outputs")
    statuses: tuple[str, ...] = Field((DRAFTING,), description="Verdicts that it mends; `none`: nothing is broken")
    says: str = Field("", description="Regular expression that the judge's feedback has to match")
    verified: str = Field(description="How its advice was checked")
    text: str

    @model_validator(mode="after")
    def _says_what_it_mends(self) -> Self:
        if self.says and not self.mends:
            raise ValueError(f"{self.topic}: feedback is only there where something is broken")
        re.compile(self.says)
        return self

    def applies(self, at: Situation) -> bool:
        """Whether an agent in this situation should know of it."""
        return (
            at.group in self.stages
            and at.status in self.statuses
            and _meets(self.bottlenecks, at.bottlenecks)
            and _meets(self.kinds, at.kinds)
            and self._holds_for(at.target)
            and _meets(self.policies, (at.policy,))
            and _meets(self.dtypes, at.dtypes)
            and (not self.says or re.search(self.says, at.feedback, re.IGNORECASE) is not None)
        )

    def _holds_for(self, target: str) -> bool:
        """Of `any` GPU only NVIDIA's were looked at, except for what is the language's and mends a fault."""
        return target in self.targets or (self.targets == ANY and (target.startswith("sm_") or self.mends))

    @property
    def mends(self) -> bool:
        """Whether it is about something broken."""
        return DRAFTING not in self.statuses

    @property
    def narrowness(self) -> float:
        """How specific it is: what it is only for."""
        facets = {facet: named for facet in WEIGHTS if (named := getattr(self, facet)) != ANY}
        shares = (whole + shared / len(facets[facet]) for facet, (whole, shared) in WEIGHTS.items() if facet in facets)
        return (SAYS if self.says else 0.0) + sum(shares)


def _meets(named: tuple[str, ...], there: tuple[str, ...]) -> bool:
    return named == ANY or not set(named).isdisjoint(there)


def read(path: Path) -> Guide:
    """A guide from its file.

    Raises:
        ValueError: if the front matter lacks a field or has one too many.
    """
    _, matter, text = path.read_text().split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in matter.splitlines() if line)
    lists = {name: tuple(fields.pop(name).split(", ")) for name in LISTS if name in fields}
    return Guide.model_validate({"topic": path.stem, "text": text.strip(), **fields, **lists})


@cache
def guides() -> dict[str, Guide]:
    """All guides by topic."""
    return {path.stem: read(path) for path in sorted(FOLDER.glob("*.md"))}


def applying(at: Situation, most: int = MOST) -> tuple[Guide, ...]:
    """The guides that apply, the most specific first."""
    found = [guide for guide in guides().values() if guide.applies(at)]
    return tuple(sorted(found, key=lambda guide: (-guide.narrowness, guide.topic))[:most])
