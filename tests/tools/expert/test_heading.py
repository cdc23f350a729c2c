"""A kernel's heading holds for the code that it was written with, and for no other."""

import pytest

from egg.state.settings import Policy
from egg.tools.expert.heading import SPEC_LINE, headed, spec_of, without_stale
from egg.tools.expert.spec import KernelSpec

SPEC = KernelSpec(policy=Policy.STOCK, structure="one_pass", regions=())
CODE = "import torch\n\n\nBLOCK = 64  # columns\n\n\nclass ModelNew: ...\n"
WRITTEN = headed(SPEC, CODE)


@pytest.mark.parametrize(
    "source",
    [WRITTEN, f"# egg tune: inputs 8: BLOCK = 64\n{WRITTEN}", WRITTEN.replace("\n\n\n", "\n\n"), f"\n{WRITTEN}\n\n"],
)
def test_decisions_of_the_code_as_it_was_written(source: str) -> None:
    assert spec_of(source) == SPEC and without_stale(source) == source


@pytest.mark.parametrize(
    "source",
    [WRITTEN.replace("BLOCK = 64", "BLOCK = 128"), WRITTEN.replace(" {", " {{"), CODE, f"{SPEC_LINE}{{}}\n{CODE}"],
)
def test_code_that_was_changed_has_none(source: str) -> None:
    assert spec_of(source) is None
    assert SPEC_LINE not in without_stale(source) and without_stale(source).endswith("class ModelNew: ...\n")
