"""Bills add up, caps hold for what may have been billed, and an unknown price is never zero."""

import pytest

from egg.state.settings import Limits
from egg.state.usage import NANO, Spend, Usage, Work

PAID = Spend(calls=2, priced=2, input_tokens=1000, output_tokens=100, nano_usd=NANO // 100)


@pytest.mark.parametrize(
    ("spend", "limits", "reached"),
    [
        (PAID, Limits(usd=0.01), "money ($0.01)"),
        (PAID, Limits(usd=0.02), None),
        (PAID + Spend(unsure=1, unsure_nano_usd=NANO // 100), Limits(usd=0.02), "money ($0.02)"),
        (PAID + Spend(failed=1, unsure=1), Limits(calls=3), "model calls (3)"),
        (PAID + Spend(failed=1), Limits(calls=3), None),
        (PAID + Spend(unsure=1, unsure_tokens=900), Limits(tokens=2000), "tokens (2000)"),
    ],
)
def test_caps_hold_for_what_a_provider_may_bill(spend: Spend, limits: Limits, reached: str | None) -> None:
    assert Usage(by_agent={"seed-1/code": spend}).over(limits, 0.0) == reached


def test_a_cap_on_gpu_time_counts_all_stages() -> None:
    usage = Usage(by_stage={"seed-1": Work(gpu_ms=40_000), "seed-2": Work(gpu_ms=20_000)})
    assert usage.over(Limits(gpu_minutes=1), 0.0) == "GPU time (1 min)"
    assert usage.over(Limits(gpu_minutes=1.1), 0.0) is None


def test_an_unknown_price_is_told_and_not_zero() -> None:
    assert Spend(calls=3).money == "3 calls of unknown price", "also of bills from before there were prices"
    assert (PAID + Spend(calls=1)).money == "$0.0100, 1 call of unknown price"
    assert Spend(calls=3, free=3).money == ""
    assert (PAID + Spend(unsure_nano_usd=NANO // 1000)).money == "$0.0100, up to $0.0010 more for failed requests"


def test_a_replayed_bill_counts_and_is_not_paid() -> None:
    again = PAID.as_replayed()
    assert (again.paid_calls, again.usd, again.money) == (0, 0.0, "")
    assert "2 replayed" in again.told()
    then, now = (Usage(by_agent={"a": spend}) for spend in (PAID, again))
    for limits in (Limits(usd=0.01), Limits(tokens=1100), Limits(calls=2)):
        assert now.over(limits, 0.0) == then.over(limits, 0.0) is not None, "it ends where it ended then"


def test_a_line_tells_all_there_is_to_tell() -> None:
    spend = PAID + Spend(calls=1, free=1, retries=1, failed=1, cached_tokens=400, reasoning_tokens=60, model_ms=1500)
    told = "3 model calls (1 by the rulebook, 1 asked again), 1000 tokens in (400 of them cached), "
    assert spend.told() == told + "100 out (60 of them reasoning), $0.0100, 1.5 s of model time"
    assert Spend(calls=1).told().startswith("1 model call, 0 tokens in")
