"""However PyTorch is called, the static profile sees what it computes, and the label says so."""

from pathlib import Path

from egg.state.evaluation import StaticProfile
from egg.state.settings import Policy
from egg.tools.compile import static_profile
from egg.tools.device import detect_device
from egg.tools.share import computing, predicted
from egg.tools.store import Store
from tests.tools.profiled import SCALE, candidate, problem

DOUBLED = "double[(512,)](y, z, y.numel(), BLOCK=1024)\nreturn z"
WAYS = """
w, b = self.fc.weight, self.fc.bias
y = torch.matmul(x, w)
y = getattr(torch, "ma" + "tmul")(x, w)
y = torch.ops.aten.mm(x, w)
y = torch.nn.functional.linear(x, w, b)
y = torch._C._nn.linear(x, w, b)
y = self.fc(x)
y = x @ w
class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        return torch.mm(x, w)
y = Product.apply(x, w)
torch.addmm(b, x, w, out=y)
if x.shape[0] > 512:
    y = torch.einsum("ij,jk->ik", x, w)
"""
HONEST = """
z = torch.zeros_like(x)
y = x.t().contiguous().t()
torch.empty(7, device=x.device).fill_(1.0)
"""


def profile(forward: str, folder: Path) -> StaticProfile:
    source = candidate(SCALE, forward + DOUBLED)
    return static_profile(problem(), source, detect_device("sm_90"), Policy.STOCK, Store(folder))


def test_every_way_to_ask_pytorch_for_a_product(tmp_path: Path) -> None:
    found = profile(WAYS + "z = torch.empty_like(y)\n", tmp_path)
    products = [name for name in found.torch_ops if name in ("mm", "addmm", "bmm", "linear")]
    assert len(products) == 10, found.torch_ops
    told = predicted(found)
    assert told.label == "partly_triton" and told.share is None
    assert told.estimated_share is not None and told.estimated_share < 0.1
    assert set(told.torch_ops) <= {"mm", "addmm", "bmm", "linear"}


def test_copies_and_fills_are_no_partner(tmp_path: Path) -> None:
    found = profile(HONEST, tmp_path)
    assert found.torch_ops and computing(found) == () and found.torch_share == 0.0
    assert predicted(found).label == "triton"


def test_a_large_epilogue_beside_a_small_product(tmp_path: Path) -> None:
    found = profile("y = x + torch.mm(x[:1, :8], self.fc.weight[:8])\nz = torch.empty_like(y)\n", tmp_path)
    assert 0.1 < found.torch_share < 0.9 and predicted(found).label == "partly_triton"
