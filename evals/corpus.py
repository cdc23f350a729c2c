"""The corpora in the checkout's tests: kernels that must fail, and kernels that must pass.

A corpus is a folder with `kernels/`, `problems/` and a table `corpus.toml` that says what must come of each kernel.
Tests are no part of an installed wheel, so the corpora are found only beside a checkout.
"""

import sysconfig
import tomllib
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from egg.state.errors import UserError
from egg.state.evaluation import Evaluation, Status
from egg.state.record import Record

TESTS = Path(__file__).resolve().parent.parent / "tests"
Where = Literal["both", "cpu", "gpu"]


class Case(Record):
    """One kernel and what must come of it."""

    name: str = Field(description="The kernel file's stem")
    source: str
    problem: str = Field(description="Path of its problem file")
    expected: tuple[Status, ...] = Field(description="Verdicts on the numbers, the source unread; empty: not asked")
    judge: tuple[Status, ...] = Field((), description="Verdicts after a look at the source; empty: see `wanted`")
    where: Where = Field("both", description="Where it can be caught, or does what it is for")
    hacks: tuple[int, ...] = Field((), description="Numbers in the catalogue of hacks that docs/trust.md lists")
    inputs: tuple[int, ...] = Field((), description="Numbers in the list of inputs that a harness must be held to")
    attacks: tuple[int, ...] = Field((), description="Numbers in the list of attacks on the sandbox")
    seconds: float = Field(20.0, description="Limit on all its runs together")
    twin: str = Field("", description="Kernel without the trick: may be `ok` if its time is no less than this one's")
    label: str = Field("", description="May be `ok` with this label")
    held_out: Literal["", "sizes", "strided"] = Field("", description="May be `ok` if what is held out shows it")
    leaves: str = Field("", description="A path that exists if the attack got through")
    slow: bool = False

    def runs_on(self, mode: str) -> bool:
        """Whether a machine that works in `mode` (`gpu` or `interpreter`) can show it."""
        return self.where in ("both", "gpu" if mode == "gpu" else "cpu")

    def wanted(self, *, read: bool) -> tuple[Status, ...]:
        """Verdicts that catch it, or let an honest one pass. A cheat may also be refused for what its source says."""
        if not read:
            return self.expected
        refused = (Status.REJECTED, Status.CHEAT, Status.COMPILE_ERROR)
        return self.judge or (self.expected if Status.OK in self.expected else (*self.expected, *refused))

    def excused(self, seen: Evaluation) -> bool:
        """Whether an `ok` says as much as a failure would: another label, or a failure at what is held out."""
        labelled = seen.ownership is not None and seen.ownership.label == self.label
        beyond = [held for held in seen.held_out if (held.why == "strided") is (self.held_out == "strided")]
        return bool(self.label and labelled) or bool(self.held_out and any(held.status != "ok" for held in beyond))


@cache
def corpus(name: Literal["cheats", "honest"]) -> tuple[Case, ...]:
    """The table's rows in its order.

    Raises:
        UserError: there is no checkout around this package.
    """
    folder = TESTS / name
    if not (folder / "corpus.toml").is_file():
        raise UserError(f"{folder}: not there; the corpora are in the source checkout only, run this from one")
    table = tomllib.loads((folder / "corpus.toml").read_text())
    return tuple(_case(folder, row) for row in table["case"])


def named(name: Literal["cheats", "honest"], case: str) -> Case:
    """One row."""
    return next(row for row in corpus(name) if row.name == case)


def left_behind(case: Case) -> bool:
    """Whether an attack got through to a file outside its folder; what it left is taken away."""
    path = Path(sysconfig.get_paths()["purelib"]) / case.leaves
    there = bool(case.leaves) and path.exists()
    if there:
        path.unlink()
    return there


def _case(folder: Path, row: dict[str, object]) -> Case:
    file = folder / "kernels" / str(row.pop("file"))
    source = file.read_text()
    problem = folder / "problems" / f"{row.pop('problem')}.py"
    return Case.model_validate({"name": file.stem, "source": source, "problem": str(problem), **row})
