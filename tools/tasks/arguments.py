"""What Triton specialised a kernel on, argument by argument."""

from typing import Any

from egg.state.launch import Argument

LONGEST = 60


def arguments_of(source: Any) -> tuple[Argument, ...]:
    """Of an `ASTSource`: types as Triton spells them, and what was compiled in."""
    constants = {path: value for path, value in source.constants.items() if len(path) == 1}
    divisible = {path for path, attributes in source.attrs.items() if _by_16(attributes)}
    found = []
    for place, (name, type_) in enumerate(source.signature.items()):
        value = str(constants[(place,)]) if (place,) in constants else None
        if value is None and type_ == "constexpr":  # what cannot be hashed by value, a tuple of constexprs
            value = "?"
        found.append(
            Argument(
                name=name[:200],
                type=_short(str(type_)),
                divisible_by_16=(place,) in divisible,
                value=None if value is None else _short(value),
            )
        )
    return tuple(found)


def _by_16(attributes: Any) -> bool:
    return any(tuple(pair) == ("tt.divisibility", 16) for pair in attributes or ())


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
