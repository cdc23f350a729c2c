"""One call of a candidate: on which inputs, in which state, amid what memory."""

import os
from dataclasses import dataclass, field, replace
from typing import Any, Literal

NAN_BYTE, LARGE_BYTE = 0xFF, 0x4B
"""What memory holds that is about to be allocated: NaN, or a large finite number, in every floating-point type."""

Json = dict[str, Any]
Weights = Literal["own", "moved", "moved parameters", "integers"]
CHANGED = {
    "moved": "weights were changed after construction (training, load_state_dict), and the output is not that of the "
    "new ones: read parameters in forward, fold or cast nothing in __init__: ",
    "integers": "with small integers written into the weights after construction: ",
}


@dataclass(frozen=True)
class Step:
    """One call of the candidate."""

    name: str
    kind: str
    weights: Weights = "own"
    strided: bool = False
    fresh: bool = False
    """At new addresses; else new contents at the old ones."""
    poison: int = NAN_BYTE
    seed: int = field(default_factory=lambda: secret())

    def named(self, name: str) -> "Step":
        """The same under another name."""
        return replace(self, name=name)

    def case(self, draw: int | None = None) -> Json:
        """What `tasks.cases.Case` is."""
        return {
            "kind": self.kind,
            "seed": self.seed,
            "draw": self.seed if draw is None else draw,
            "weights": self.weights,
            "strided": self.strided,
        }


def secret() -> int:
    """A seed nobody can have prepared for."""
    return int.from_bytes(os.urandom(4), "little")
