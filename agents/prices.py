"""The price table: ours, and the user's own over it."""

import os
import re
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import ValidationError

from egg.state.backbone import ROLES, Backbone
from egg.state.errors import UserError
from egg.state.price import Price
from egg.state.settings import Settings

OURS = Path(__file__).with_name("prices.toml")
SNAPSHOT = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8})$")
"""The date that providers hang on a model's name to say which version of it is meant."""


def own_table() -> Path:
    """Where the user's prices are, or would be: `$EGG_PRICES`, or `egg/prices.toml` in the folder of configurations."""
    if named := os.environ.get("EGG_PRICES"):
        return Path(named)
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "egg" / "prices.toml"


def prices() -> tuple[Price, ...]:
    """The table in force, the user's entries first.

    Raises:
        UserError: the user's table cannot be read.
    """
    own = own_table()
    try:
        theirs = _read(own, own.stat().st_mtime_ns)
    except OSError as error:
        if "EGG_PRICES" in os.environ:
            raise UserError(f"EGG_PRICES names {own}, which cannot be read: {error.strerror}") from None
        theirs = ()
    given = {(price.model, price.host) for price in theirs}
    return (*theirs, *(price for price in _read(OURS, 0) if (price.model, price.host) not in given))


def price_of(backbone: Backbone) -> Price | None:
    """What the model costs at its endpoint, if the table says so. The price of one host is none at another."""
    host = urlsplit(backbone.base_url).hostname if backbone.base_url else None
    named = (backbone.model, SNAPSHOT.sub("", backbone.model))
    return next((price for name in named for price in prices() if (price.model, price.host) == (name, host)), None)


def check_priced(settings: Settings) -> None:
    """A cap on money holds for nothing that has no price.

    Raises:
        UserError: a model has none, or the table cannot be read.
    """
    prices()
    if settings.limits.usd is None:
        return
    for role in ROLES:
        backbone = settings.backbone(role)
        if not backbone.is_rulebook and not backbone.is_replay and price_of(backbone) is None:
            where = f" at {urlsplit(backbone.base_url).hostname}" if backbone.base_url else ""
            raise UserError(f"--max-usd needs a price for {backbone.model}{where}: add one to {own_table()}")


@lru_cache(maxsize=8)
def _read(path: Path, changed: int) -> tuple[Price, ...]:
    """The entries of a table; `changed` tells one version of the file from the next."""
    try:
        entries: Any = tomllib.loads(path.read_text()).get("price", [])
        return tuple(Price.model_validate(entry) for entry in entries)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, TypeError) as error:
        raise UserError(f"the price table {path} is no TOML with [[price]] entries: {error}") from None
    except ValidationError as error:
        fault = error.errors()[0]
        where = f"{fault['loc'][0]}: " if fault["loc"] else ""
        raise UserError(f"the price table {path}: {where}{fault['msg']} (got {str(fault['input'])[:80]})") from None
