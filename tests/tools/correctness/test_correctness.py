"""What a check sees beside values. The candidates here are PyTorch: whose work it is, is not asked."""

import pytest

from egg.state.device import Device
from egg.state.errors import MachineError
from egg.state.settings import Policy
from egg.state.status import Status
from egg.tools.correctness.verify import Depth, Findings, examine
from egg.tools.device import detect_device
from egg.tools.errors import CandidateError

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
LINEAR = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(33, 17)
    def forward(self, x):
        return torch.relu(self.fc(x))
def get_inputs():
    return [torch.rand(9, 33)]
"""
PLAIN = """
class Model(nn.Module):
    def forward(self, x, y):
        return {body}
def get_inputs():
    return [torch.rand(9, 33), torch.rand(9, 33)]
"""
NEW = """
class ModelNew(nn.Module):
    def forward(self, x, y):
        {body}
"""


@pytest.fixture(scope="module")
def device() -> Device:
    return detect_device("sm_90").model_copy(update={"present": False})


def check(device: Device, problem: str, candidate: str, depth: Depth = "search") -> Findings | CandidateError:
    try:
        return examine(HEAD + problem, HEAD + candidate, device, Policy.STOCK, depth, 30.0, whole=False)
    except CandidateError as error:
        return error


def renamed(problem: str) -> str:
    return problem.split("def get_inputs")[0].replace("class Model", "class ModelNew")


def test_the_reference_passes_as_its_own_candidate(device: Device) -> None:
    found = check(device, LINEAR, renamed(LINEAR), "confirm")
    assert isinstance(found, Findings) and found.deterministic is True
    assert [(h.why, h.status) for h in found.held_out] == [("strided", Status.OK)]
    assert {"moved", "integers"} <= {a.case.split("weights ")[-1].split(",")[0] for a in found.accuracy}


def test_weights_folded_at_construction_are_old_weights(device: Device) -> None:
    folded = renamed(LINEAR).replace(
        "    def forward(self, x):\n        return torch.relu(self.fc(x))",
        "        self.kept = None\n    def forward(self, x):\n"
        "        if self.kept is None: self.kept = self.fc.weight.detach().clone()\n"
        "        return torch.relu(F.linear(x, self.kept, self.fc.bias))",
    )
    found = check(device, LINEAR, folded)
    assert isinstance(found, CandidateError) and found.status is Status.MISMATCH
    assert found.feedback.startswith("normal (3 of ") and "weights were changed after construction" in found.feedback
    assert found.faults[0].case.startswith("normal (3 of ") and found.faults[0].output == "output"


def test_other_names_of_parameters_are_matched_by_seed_and_said_to_be(device: Device) -> None:
    found = check(device, LINEAR, renamed(LINEAR).replace("self.fc", "self.linear"))
    assert isinstance(found, Findings) and "not tried with weights that change" in found.feedback


FORMS = {
    "y.copy_(torch.relu(x)); return y": (Status.REJECTED, "changes its inputs: number [1]"),
    "return torch.relu(x).unsqueeze(0)": (Status.WRONG_SHAPE, "has shape [1, 9, 33]"),
    "return torch.relu(x).double()": (Status.WRONG_DTYPE, "is float64"),
    "return torch.relu(x).T.contiguous().T": (Status.WRONG_SHAPE, "strides [1, 9]"),
    "return torch.relu(x)[:1, :1].expand(9, 33)": (Status.WRONG_SHAPE, "share their memory"),
    "return torch.relu(x), None": (Status.WRONG_SHAPE, "the result consists of ['output[0]', 'output[1] (None)']"),
    "return torch.relu(x).as_subclass(type('Lazy', (torch.Tensor,), {}))": (Status.CHEAT, "not a plain tensor"),
    "return [torch.relu(x)]": (Status.WRONG_SHAPE, "expected ['output']"),
}


@pytest.mark.parametrize("body", FORMS)
def test_the_form_of_an_output(device: Device, body: str) -> None:
    found = check(device, PLAIN.format(body="torch.relu(x)"), NEW.format(body=body), "quick")
    status, said = FORMS[body]
    assert isinstance(found, CandidateError) and found.status is status and said in found.feedback
    assert all(fault.kind is status for fault in found.faults)


def test_an_output_in_the_memory_of_an_input(device: Device) -> None:
    problem = PLAIN.format(body="(x + 0, y[:3])")
    aliased = check(device, problem, NEW.format(body="return x, y[:3]"), "quick")
    assert isinstance(aliased, CandidateError) and aliased.status is Status.REJECTED
    assert "output[0] lies in the memory of input [0]" in aliased.feedback
    assert isinstance(check(device, problem, NEW.format(body="return x.clone(), y[:3]"), "quick"), Findings)


def test_outputs_that_share_elements(device: Device) -> None:
    problem = PLAIN.format(body="(x * 2, x * 2)")
    shared = check(device, problem, NEW.format(body="out = x * 2; return out, out"), "quick")
    assert isinstance(shared, CandidateError) and "shares elements with ['output[0]']" in shared.feedback
    parts = "both = torch.empty(2, 9, 33); both[0] = x * 2; both[1] = x * 2; return both[0], both[1]"
    assert isinstance(check(device, problem, NEW.format(body=parts), "quick"), Findings)


def test_nested_outputs_with_numbers_and_none(device: Device) -> None:
    problem = PLAIN.format(body="{'a': (x + y, None), 'n': 3}")
    right = "return {'a': [x + y, None], 'n': 3}"
    assert isinstance(check(device, problem, NEW.format(body=right), "quick"), Findings)
    for wrong in ("return {'a': [x + y, None], 'n': 4}", "return {'a': [x + y], 'n': 3}"):
        assert isinstance(check(device, problem, NEW.format(body=wrong), "quick"), CandidateError)


def test_inputs_that_are_not_contiguous_are_told_and_not_held_against_it(device: Device) -> None:
    flat = "return torch.relu(torch.as_strided(x, (9, 33), (33, 1))) + y"
    found = check(device, PLAIN.format(body="torch.relu(x) + y"), NEW.format(body=flat), "confirm")
    assert isinstance(found, Findings)
    ((strided),) = found.held_out
    assert strided.why == "strided" and strided.status is Status.MISMATCH


def test_sums_of_integers_are_exact(device: Device) -> None:
    problem = PLAIN.format(body="x @ y.T")
    fast = "return x @ y.T + 1e-7"
    found = check(device, problem, NEW.format(body=fast))
    assert isinstance(found, CandidateError) and "sums of small integers must be exact" in found.feedback


def test_large_inputs_overflow_an_exponential(device: Device) -> None:
    problem = PLAIN.format(body="torch.softmax(x, -1) * y")
    naive = "e = torch.exp(x); return e / e.sum(-1, keepdim=True) * y"
    found = check(device, problem, NEW.format(body=naive))
    assert isinstance(found, CandidateError) and found.status is Status.MISMATCH and "NaN or infinite" in found.feedback
    assert found.faults[0].look.endswith("an overflow")


def test_uninitialised_memory_shows(device: Device) -> None:
    lucky = "out = torch.empty(9, 33); out[:8] = (x * y)[:8]; return out"
    found = check(device, PLAIN.format(body="x * y"), NEW.format(body=lucky))
    assert isinstance(found, CandidateError) and found.status is Status.MISMATCH
    assert found.faults[0].tail and (found.faults[0].region[0].low, found.faults[0].region[0].size) == (8, 9)


def test_what_differs_between_runs_and_is_wrong(device: Device) -> None:
    flaky = (
        "self.n = getattr(self, 'n', 0) + 1; out = x * y\n        if self.n > 7: out = out * 1.5\n        return out"
    )
    found = check(device, PLAIN.format(body="x * y"), NEW.format(body=flaky))
    assert isinstance(found, CandidateError) and found.status is Status.NONDETERMINISTIC


NORM = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(33)
    def forward(self, x):
        return self.norm(x)
def get_inputs():
    return [torch.rand(9, 33)]
"""


def test_running_statistics_are_outputs_too(device: Device) -> None:
    assert isinstance(check(device, NORM, renamed(NORM)), Findings)
    forgets = renamed(NORM).replace(
        "return self.norm(x)", "return F.batch_norm(x, None, None, self.norm.weight, self.norm.bias, True)"
    )
    found = check(device, NORM, forgets)
    assert isinstance(found, CandidateError) and "buffer norm.running_mean is updated" in found.feedback


DROPOUT = PLAIN.format(body="F.dropout(x, 0.3) + y")


def test_random_problems_are_compared_by_distribution(device: Device) -> None:
    own = "keep = (torch.rand(9, 33) > 0.3).float(); return x * keep / 0.7 + y"
    found = check(device, DROPOUT, NEW.format(body=own))
    assert isinstance(found, Findings) and "the reference is random" in found.feedback
    for wrong in ("return x + y", "keep = (torch.rand(9, 33) > 0.6).float(); return x * keep / 0.4 + y"):
        bad = check(device, DROPOUT, NEW.format(body=wrong))
        assert isinstance(bad, CandidateError) and bad.status is Status.MISMATCH, wrong
        assert "the reference is random" in bad.feedback


def test_the_line_of_an_error_is_in_its_fault(device: Device) -> None:
    found = check(device, PLAIN.format(body="x * y"), NEW.format(body="return x @ y"))
    assert isinstance(found, CandidateError) and found.status is Status.RUNTIME_ERROR
    (fault,) = found.faults
    assert fault.line == 7 and "line 7 (`return x @ y`)" in found.feedback


def test_a_reference_without_memory_is_no_verdict(device: Device) -> None:
    huge = PLAIN.format(body="torch.ones(1 << 33).sum() + x")
    with pytest.raises(MachineError, match="not the candidate"):
        check(device, huge, NEW.format(body="return x + y"), "quick")


def test_a_candidate_without_memory_is_one(device: Device) -> None:
    found = check(device, PLAIN.format(body="x + y"), NEW.format(body="return torch.ones(1 << 33).sum() + x"), "quick")
    assert isinstance(found, CandidateError) and found.status is Status.OUT_OF_MEMORY
    assert found.faults[0].kind is Status.OUT_OF_MEMORY
