"""The interpreter, mended, multiplies bfloat16 and runs autotuned kernels."""

from egg.tools.sandbox.client import run


def test_bfloat16_products() -> None:
    assert run("tests.tools.tasks.bf16_dot:multiply", {}, interpret=True).require("multiply")["error"] < 1e-5


def test_autotuned_kernels_run_in_their_first_configuration() -> None:
    told = run("tests.tools.tasks.bf16_dot:tune", {}, interpret=True).require("tune")
    assert told == {"sum": 200.0, "blocks": [32]}
