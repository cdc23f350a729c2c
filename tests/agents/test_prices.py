"""The price table: every price has its page and its day, and the user's own win."""

from datetime import date
from pathlib import Path

import pytest

from egg.agents.prices import check_priced, own_table, price_of, prices
from egg.state.backbone import Backbone
from egg.state.errors import UserError
from egg.state.settings import Limits, Settings

MINE = '[[price]]\nmodel = "{model}"\n{more}input = 1.0\noutput = 2.0\nsource = "a bill"\nread = 2026-11-30\n'


@pytest.fixture(autouse=True)
def no_own_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EGG_PRICES", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    own_table().parent.mkdir()
    return own_table()


def test_every_price_we_ship_says_where_it_is_from_and_when() -> None:
    assert len(prices()) == len({(price.model, price.host) for price in prices()}) >= 5
    for price in prices():
        assert price.source.startswith("https://") and price.read >= date(2026, 12, 1)
        assert price.cached is None or price.cached < price.input < price.output


def test_a_price_holds_for_a_models_snapshots_and_for_one_host() -> None:
    price = price_of(Backbone(model="openai:gpt-5.1"))
    assert price is not None and price_of(Backbone(model="openai:gpt-5.1-2025-11-13")) == price
    assert price_of(Backbone(model="openai:gpt-5.1", base_url="http://localhost:8000/v1")) is None
    assert price_of(Backbone(model="openai:gpt-5.1-mini")) is None
    assert price_of(Backbone(model="openai:deepseek-flash")) is None
    assert price_of(Backbone(model="openai:deepseek-flash", base_url="https://api.deepseek.com/v1")) is not None


def test_cached_input_is_cheaper_and_unknown_kinds_cost_as_other_input() -> None:
    price = price_of(Backbone(model="openai:gpt-5.1"))
    assert price is not None
    assert price.nano_usd(1_000_000) == 1_250_000_000
    assert price.nano_usd(1_000_000, cached=400_000, output_tokens=1000) == 750_000_000 + 50_000_000 + 10_000_000
    assert price.nano_usd(1000, written=1000) == price.nano_usd(1000)


def test_the_users_own_prices_win_and_changes_count_at_once(mine: Path) -> None:
    mine.write_text(MINE.format(model="openai:gpt-5.1", more=""))
    price = price_of(Backbone(model="openai:gpt-5.1"))
    assert price is not None and (price.input, price.source) == (1.0, "a bill")
    mine.write_text(MINE.format(model="openai:mine", more='host = "localhost"\n') + "\n# changed\n")
    assert price_of(Backbone(model="openai:mine", base_url="http://localhost:1/v1")) is not None
    again = price_of(Backbone(model="openai:gpt-5.1"))
    assert again is not None and again.input == 1.25


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("price = ", "is no TOML"),
        ("price = 3", "is no TOML with"),
        (MINE.format(model="m", more="") + "in = 3\n", "in: Extra inputs are not permitted"),
        ('[[price]]\nmodel = "m"\n', "input: Field required"),
        (MINE.format(model="m", more="cached = -1.0\n"), "cached: Input should be greater"),
    ],
)
def test_a_table_that_cannot_be_read_is_one_line(mine: Path, text: str, says: str) -> None:
    mine.write_text(text)
    with pytest.raises(UserError) as fault:
        prices()
    assert says in str(fault.value) and str(mine) in str(fault.value) and "\n" not in str(fault.value)


def test_a_named_table_must_be_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EGG_PRICES", str(tmp_path / "none.toml"))
    with pytest.raises(UserError, match="EGG_PRICES names .*none.toml, which cannot be read"):
        prices()


def test_a_cap_on_money_needs_prices(mine: Path) -> None:
    capped = Settings(model="openai:mine", limits=Limits(usd=1.0))
    with pytest.raises(UserError, match="--max-usd needs a price for openai:mine: add one to"):
        check_priced(capped)
    check_priced(capped.by_rulebook())
    check_priced(Settings(model="openai:mine"))
    mine.write_text(MINE.format(model="openai:mine", more=""))
    check_priced(capped)
