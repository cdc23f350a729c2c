"""A small problem and candidates for the tests of timing, on the host's clock."""

from hashlib import sha256

from egg.state.problem import Problem
from egg.state.settings import Policy
from egg.tools.device import detect_device
from egg.tools.timing.interleave import Job
from egg.tools.timing.nvml import Reader

SOURCE = """
import torch

rows, columns = 64, 96


class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = torch.nn.Linear(width, width)

    def forward(self, x):
        return torch.relu(self.fc(x))


def get_inputs():
    return [torch.rand(rows, columns)]


def get_init_inputs():
    return [columns]
"""
NOTHING = Reader(lambda: None, "no GPU")
H200 = detect_device("sm_90")


def problem(forward: str = "return torch.relu(self.fc(x))", inputs: str = "torch.rand(rows, columns)") -> Problem:
    """A linear layer and a ReLU, or another forward body or input."""
    source = SOURCE.replace("return torch.relu(self.fc(x))", forward).replace("torch.rand(rows, columns)", inputs)
    return Problem(name="small", path="-", source=source, digest=sha256(source.encode()).hexdigest())


def job(of: Problem | None = None, reader: Reader = NOTHING) -> Job:
    """On the host's clock."""
    return Job(of or problem(), H200, Policy.STOCK, reader, "cpu")


def candidate(forward: str, head: str = "") -> str:
    """A `ModelNew` with this forward body, in which `honest(x)` is the right answer."""
    body = "\n".join(f"        {line}" for line in forward.strip().splitlines())
    return f"""import torch

{head}

class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = torch.nn.Linear(width, width)
        self.kept = {{}}
        self.calls = 0

    def honest(self, x):
        return torch.relu(torch.addmm(self.fc.bias, x, self.fc.weight.t()))

    def forward(self, x):
{body}
"""
