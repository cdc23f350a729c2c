"""Every pointwise operator that the library claims, in the interpreter, against PyTorch."""

from pathlib import Path

from egg.tools.store import Store
from tests.tools.expert.problems import problem
from tests.tools.expert.writing import error, written

RESULTS = """
x + 2 * y, x - y / 3, torch.rsub(x, y, alpha=2), x / y, x * y - 1.5, -x, torch.add(x, y, alpha=3),
x**2, x**3, x.abs() ** 0.5, (x.abs() + 1) ** -0.5, 1 / (x + 99), x.square(), (x.abs() + 1).rsqrt(), x.sqrt(),
x.exp(), (x.abs() + 0.1).log(), x.expm1(), x.abs().log1p(), x.tanh(), x.sigmoid(), x.sign(), x.floor(),
F.gelu(x), F.gelu(x, approximate="tanh"), F.silu(x), F.relu(x), F.leaky_relu(x, 0.2), F.mish(x), F.relu6(x),
F.elu(x, 0.7), F.selu(x), F.softplus(x), F.hardswish(x), F.hardsigmoid(x), F.hardtanh(x, -2, 1), F.logsigmoid(x),
x.clamp(-0.5, 0.7), x.clamp(min=0.1), torch.maximum(x, y), torch.minimum(x, y), torch.lerp(x, y, 0.3),
x > y, x.masked_fill(y > 0, float("-inf")), torch.where(x < 0, y, x), (x > 0) & (y > 0) | (x > y), ~(x > 0),
torch.where(x > 0, 1.0, x), torch.logical_and(x > 0, y > 0), torch.softmax(x, 1).log(),
(x.half() + y).float(), (x > 0).float() * y, x.double() + 1, (x > 0).long() * 2,
x + y[0], x * y[:, :1], x[:, :1] + y[:1], x[0] - y.reshape(-1)[0], x[:, None, :3] + y[None, :, :3],
x[:, :9] * y[:, 9:18], x[:, :12].unflatten(1, (3, 4)).transpose(0, 1) + y[:1, :4], x[:, 1:2] * y, x.t() * 2,
x / 0.0, (x * 1e30).exp(), (-x.abs()).log(), torch.sigmoid(x * 1e3), F.gelu(x * 1e2), torch.tanh(x * 1e-4)
"""

BODY = f"""
class Model(nn.Module):
    def forward(self, x, y):
        return ({RESULTS})


def get_inputs():
    return [torch.randn(ROWS, COLS) * 3, torch.randn(ROWS, COLS)]


def get_init_inputs():
    return []
"""


def test_operators(tmp_path: Path) -> None:
    tested = problem(BODY, "ROWS, COLS = 520, 1000", "ROWS, COLS = 13, 37")
    skeleton = written(tested, Store(tmp_path))
    assert not skeleton.torch_regions
    assert error(tested, skeleton) < 3e-7
