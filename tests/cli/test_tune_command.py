"""`egg tune`: a space from a file, refusals, and a whole search without a GPU."""

import json

import pytest
from typer.testing import CliRunner

from egg.cli import app
from egg.state.errors import UserError
from egg.state.search import PointStatus
from egg.tools.expert.heading import SPEC_LINE
from egg.tools.tune.file import Tuned, read_space
from egg.tools.tune.heading import headed
from tests.tools.tune.written import AUTOTUNED, PLAIN, SOURCE, TENSOR


def space(tmp_path, text):
    file = tmp_path / "space.json"
    file.write_text(text)
    return read_space(file, PLAIN)


def test_a_space_is_names_with_values_or_the_record(tmp_path):
    found = space(tmp_path, '{"BLOCK": [256, 512], "META.num_warps": [8]}')
    assert [(p.name, p.values, p.group) for p in found.parameters] == [
        ("BLOCK", (128, 256, 512), "tiling"),
        ("META.num_warps", (4, 8), "tiling"),
    ]
    again = space(tmp_path, found.model_dump_json())
    assert again == found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"WIDTH": [1]}', "no WIDTH in the kernel; it has BLOCK, META.num_warps"),
        ("[1, 2]", "is no search space"),
        ('{"BLOCK": []}', "is no search space"),
        ("{", "is no search space"),
    ],
)
def test_another_space_is_refused_in_one_line(tmp_path, text, said):
    with pytest.raises(UserError, match=said) as raised:
        space(tmp_path, text)
    assert "\n" not in str(raised.value)


def test_the_heading_is_a_line_for_each_shape(tmp_path):
    from tests.tools.timed import H200

    first = headed(SPEC_LINE + "{}\nimport torch\n", {"BLOCK": 256}, False, (TENSOR,), H200)
    assert first.splitlines()[1] == "# egg tune: inputs 1024x512 float32: BLOCK = 256 (estimated for NVIDIA H200)"
    wider = TENSOR.model_copy(update={"shape": (8, 8)})
    second = headed(first, {"BLOCK": 64}, True, (wider,), H200)
    third = headed(second, {"BLOCK": 512}, True, (TENSOR,), H200)
    assert third.splitlines() == [
        SPEC_LINE.strip() + " {}",
        "# egg tune: inputs 1024x512 float32: BLOCK = 512 (timed on NVIDIA H200)",
        "# egg tune: inputs 8x8 float32: BLOCK = 64 (timed on NVIDIA H200)",
        "import torch",
    ]


@pytest.mark.slow
def test_a_kernel_is_searched_judged_and_written(tmp_path):
    problem, kernel, out = tmp_path / "double.py", tmp_path / "kernel.py", tmp_path / "tuned.py"
    problem.write_text(SOURCE)
    kernel.write_text(AUTOTUNED)
    asked = ["tune", str(problem), str(kernel), "--target", "sm_90", "--json", "--out", str(out)]
    ran = CliRunner().invoke(app, asked)
    assert ran.exit_code == 0, ran.output
    tuned = Tuned.model_validate(json.loads(ran.output))
    assert tuned.choice == {"double.config": 1} and tuned.after.ok and tuned.result.count(PointStatus.COMPILED) == 3
    assert "configs=CONFIGS[1:2]" in out.read_text() and out.read_text() == tuned.source
    assert "# egg tune: inputs 1024x512 float32: double.config = 1 (estimated for NVIDIA H200)" in out.read_text()


@pytest.mark.slow
def test_a_wrong_kernel_is_not_tuned(tmp_path):
    problem, kernel = tmp_path / "double.py", tmp_path / "kernel.py"
    problem.write_text(SOURCE)
    kernel.write_text(PLAIN.replace("2 * tl.load", "3 * tl.load"))
    ran = CliRunner().invoke(app, ["tune", str(problem), str(kernel), "--target", "sm_90"])
    assert isinstance(ran.exception, UserError) and "is not right (mismatch" in str(ran.exception)
