"""Where a program of the grid stands: index variables, offsets, masks, and how a tile is reduced."""

from dataclasses import dataclass
from typing import Literal

from egg.tools.expert.rows.program import Operand, Program, Result

Form = Literal["row", "rows", "columns"]


@dataclass(frozen=True)
class Tile:
    """The shape of a tile.

    `row`: one row, 1-d, its statistics are scalars. `rows`: [ROWS, BLOCK], several rows at once. `columns`:
    [BLOCK, LANES] for reductions whose last axis is kept; lanes run along it, so that loads stay coalesced.
    """

    program: Program
    form: Form
    inner: str = "BLOCK"

    @property
    def kept(self) -> list[int]:
        """Kept axes, without the one along which lanes run."""
        axes = [i for i, axis in enumerate(self.program.axes) if not axis.reduced]
        return axes[:-1] if self.form == "columns" else axes

    @property
    def reduced(self) -> list[int]:
        return [i for i, axis in enumerate(self.program.axes) if axis.reduced]

    @property
    def row_name(self) -> str:
        return "outer" if self.form == "columns" else "row"

    @property
    def shape(self) -> str:
        shapes = {"row": f"[{self.inner}]", "rows": f"[ROWS, {self.inner}]", "columns": f"[{self.inner}, LANES]"}
        return shapes[self.form]

    @property
    def constants(self) -> list[str]:
        """Block sizes besides BLOCK."""
        return {"row": [], "rows": ["ROWS"], "columns": ["LANES"]}[self.form]

    @property
    def steps(self) -> str:
        """Column numbers within a tile."""
        slot = {"row": "", "rows": "[None, :]", "columns": "[:, None]"}[self.form]
        return f"tl.arange(0, {self.inner}){slot}"

    def reduce(self, op: str, value: str) -> str:
        """One value for each row of the tile."""
        axis = {"row": "0", "rows": "1, keep_dims=True", "columns": "0, keep_dims=True"}[self.form]
        return f"tl.{op}({value}, {axis})"

    @property
    def row_mask(self) -> str | None:
        return {"row": None, "rows": "row < rows", "columns": "lane < lanes"}[self.form]

    def place(self, persistent: bool = False) -> list[str]:
        """Statements that find this program's rows. Row numbers are 64-bit, so that no offset overflows."""
        if self.form == "row":
            lines = ["row = tl.program_id(0).to(tl.int64)"] if self.kept else []
        elif self.form == "rows":
            first = "tile" if persistent else "tl.program_id(0)"
            lines = [f"row = {first} * ROWS + tl.arange(0, ROWS).to(tl.int64)[:, None]"]
        elif self.kept:
            lines = [
                "lane_tiles = tl.cdiv(lanes, LANES)",
                "outer = (tl.program_id(0) // lane_tiles).to(tl.int64)",
                "lane = tl.program_id(0) % lane_tiles * LANES + tl.arange(0, LANES)[None, :]",
            ]
        else:
            lines = ["lane = (tl.program_id(0) * LANES + tl.arange(0, LANES)[None, :]).to(tl.int64)"]
        return lines + self._decode(self.row_name, self.kept)

    def columns(self, first: str = "") -> list[str]:
        """Statements that name the columns of a tile which starts at `first`."""
        steps = f"{first} + {self.steps}" if first else self.steps
        if not self.kept and self.form == "row":
            steps = f"({steps}).to(tl.int64)" if first else f"{steps}.to(tl.int64)"
        return [f"col = {steps}", *self._decode("col", self.reduced)]

    @property
    def inside(self) -> str:
        """The statement that says which elements of the tile exist."""
        masks = [mask for mask in (self.row_mask, "col < cols") if mask]
        return "inside = " + (masks[0] if len(masks) == 1 else " & ".join(f"({mask})" for mask in masks))

    def offset(self, axes: tuple[int, ...]) -> str:
        """Element offset into a tensor that is contiguous over `axes`."""
        text = ""
        for index, size in self._indices(list(axes)):
            if not text:
                text = index
            else:
                text = f"({text}) * {size} + {index}" if "+" in text else f"{text} * {size} + {index}"
        return text or "0"

    def mask(self, axes: tuple[int, ...]) -> str | None:
        """Condition under which the offset lies inside the tensor; None if it always does."""
        over_columns = any(axis in self.reduced for axis in axes)
        last = len(self.program.axes) - 1
        over_rows = (last in axes) if self.form == "columns" else any(axis in self.kept for axis in axes)
        if over_columns and (over_rows or self.form == "row"):
            return "inside"
        if over_columns:
            return "col < cols"
        return self.row_mask if over_rows else None

    def load(self, operand: Operand, hint: str = "") -> str:
        mask = self.mask(operand.axes)
        offset = self.offset(operand.axes)
        where = f"{operand.name}_ptr" if offset == "0" else f"{operand.name}_ptr + {offset}"
        guard = f", {mask}, other=0{'.0' if 'float' in operand.register else ''}" if mask else ""
        cast = "" if operand.register in (operand.dtype, "int1") else f".to(tl.{operand.register})"
        return f"{operand.name} = tl.load({where}{guard}{hint}){cast}"

    def store(self, result: Result) -> str:
        mask = self.mask(result.axes)
        offset = self.offset(result.axes)
        where = f"{result.tensor}_ptr" if offset == "0" else f"{result.tensor}_ptr + {offset}"
        return f"tl.store({where}, {result.value}{f', {mask}' if mask else ''})"

    def _decode(self, name: str, axes: list[int]) -> list[str]:
        """Split a running index into its axes, where a tensor does not run over all of them together."""
        tensors: list[Operand | Result] = [*self.program.operands, *self.program.results]
        if not any(self._apart(list(tensor.axes), axes) for tensor in tensors):
            return []
        lines = []
        for place, axis in enumerate(axes):
            inner = [f"{name}s_{later}" for later in axes[place + 1 :]]
            over = f"{name} // {inner[0] if len(inner) == 1 else '(' + ' * '.join(inner) + ')'}" if inner else name
            lines.append(f"{name}_{axis} = {over}{f' % {name}s_{axis}' if place else ''}")
        return lines

    @staticmethod
    def _apart(axes: list[int], group: list[int]) -> bool:
        """Whether `group` takes part in `axes` otherwise than as one whole run."""
        return len(group) > 1 and any(a in group for a in axes) and not _has_run(axes, group)

    def _indices(self, axes: list[int]) -> list[tuple[str, str]]:
        """(index, size) of each axis; a group that appears whole and in order counts as one axis."""
        found = []
        while axes:
            axis = axes[0]
            if self.form == "columns" and axis == len(self.program.axes) - 1:
                found.append(("lane", "lanes"))
                axes = axes[1:]
                continue
            name, group = ("col", self.reduced) if self.program.axes[axis].reduced else (self.row_name, self.kept)
            if axes[: len(group)] == group:
                found.append((name, f"{name}s"))
                axes = axes[len(group) :]
            else:
                found.append((f"{name}_{axis}", f"{name}s_{axis}"))
                axes = axes[1:]
        return found

    def sizes(self) -> dict[str, str]:
        """Every size that a kernel of this program may name, as the host computes it."""
        sizes = {f"{self.row_name}s": self._product(self.kept), "cols": self._product(self.reduced)}
        if self.form == "columns":
            sizes["lanes"] = self.program.axes[-1].size
        for name, group in ((self.row_name, self.kept), ("col", self.reduced)):
            sizes |= {f"{name}s_{axis}": self.program.axes[axis].size for axis in group}
        return sizes

    def _product(self, axes: list[int]) -> str:
        return " * ".join(self.program.axes[axis].size for axis in axes) or "1"


def _has_run(axes: list[int], group: list[int]) -> bool:
    return any(axes[i : i + len(group)] == group for i in range(len(axes)))
