"""The interpreter, mended, multiplies bfloat16."""

from egg.tools.sandbox.client import run


def test_bfloat16_products() -> None:
    assert run("tests.tools.tasks.bf16_dot:multiply", {}, interpret=True).require("multiply")["error"] < 1e-5
