"""A timeout says how much time there really was."""

from egg.tools.sandbox.worker import _too_long


def test_an_idle_machine_is_not_blamed() -> None:
    assert _too_long(120, 119.9, 120.1) == "no answer within 120 s"


def test_a_busy_one_is() -> None:
    said = _too_long(120, 119.96, 333.2)
    assert "120 s of processor time in 333 s" in said and "busy" in said
