"""Matrix products as the library writes them: in the interpreter against PyTorch, and compiled for a GPU."""

from pathlib import Path

import pytest

from egg.state.problem import Problem
from egg.state.settings import Policy
from egg.tools.compile import static_profile
from egg.tools.store import Store
from tests.tools.expert.problems import DEVICE, problem
from tests.tools.expert.writing import error, written

FULL = "B, M, N, K = 6, 1024, 768, 512"
FEW_TILES = "B, M, N, K = 6, 128, 256, 1024"
SMALL = "B, M, N, K = 3, 37, 29, 45"

BODY = """
class Model(nn.Module):
    def __init__(self, k, n):
        super().__init__()
        LAYERS

    def forward(self, ARGUMENTS):
        return RESULT


def get_inputs():
    return [INPUTS]


def get_init_inputs():
    return [K, N]
"""

LINEAR = "self.linear = nn.Linear(k, n)"
INT8 = (
    "self.register_buffer('w', torch.randint(-127, 128, (n, k), dtype=torch.int8)); "
    "self.register_buffer('s', torch.rand(n) * 0.01 + 0.001); self.bias = nn.Parameter(torch.randn(n))"
)

PRODUCTS = {
    "linear": (LINEAR, "self.linear(a)", "torch.randn(M, K)"),
    "linear_3d_gelu": (LINEAR, "F.gelu(self.linear(a) * 2.0 + 1.0)", "torch.randn(B, M, K)"),
    "transposed": ("", "torch.relu(a.T @ b.T)", "torch.randn(K, M), torch.randn(N, K)"),
    "addmm_row_and_column": (
        "",
        "torch.relu(torch.addmm(a, b, c)) * d + e",
        "torch.randn(N), torch.randn(M, K), torch.randn(K, N), torch.randn(M, 1), torch.randn(M, N)",
    ),
    "bmm": ("", "torch.bmm(a, b)", "torch.randn(B, M, K), torch.randn(B, K, N)"),
    "broadcast_batch": ("", "a @ b + c", "torch.randn(2, B, M, K), torch.randn(B, K, N), torch.randn(M, N)"),
    "einsum": ("", "torch.einsum('bijl,lk->bijk', a, b)", "torch.randn(2, B, M, K), torch.randn(K, N)"),
    "vector": ("", "a @ b", "torch.randn(M, K), torch.randn(K)"),
}

INT8_PRODUCTS = {
    "scaled_weight": "F.linear(a, self.w.to(a.dtype) * self.s[:, None], self.bias)",
    "scaled_after": "torch.relu((a @ self.w.t().to(a.dtype)) * self.s + self.bias)",
}


def asking(layers: str, result: str, inputs: str, full: str = FULL) -> Problem:
    arguments = ", ".join("abcde"[: inputs.count("torch.randn")])
    body = BODY.replace("LAYERS", layers or "pass").replace("ARGUMENTS", arguments)
    body = body.replace("RESULT", result).replace("INPUTS", inputs)
    return problem(body, full, SMALL)


@pytest.mark.slow
@pytest.mark.parametrize("product", PRODUCTS)
def test_every_spelling(product: str, tmp_path: Path) -> None:
    asked = asking(*PRODUCTS[product])
    skeleton = written(asked, Store(tmp_path), structure="tiled")
    assert [region.kind for region in skeleton.spec.regions] == ["gemm"]
    assert error(asked, skeleton) < 3e-7


@pytest.mark.parametrize(
    ("product", "structure"),
    [
        ("linear_3d_gelu", "tiled"),
        ("linear_3d_gelu", "split_k"),
        ("broadcast_batch", "split_k"),
        ("bmm", "scaled_fp16"),
    ],
)
def test_every_structure(product: str, structure: str, tmp_path: Path) -> None:
    asked = asking(*PRODUCTS[product], FEW_TILES if structure == "split_k" else FULL)
    skeleton = written(asked, Store(tmp_path), structure=structure)
    assert skeleton.spec.regions[0].structure["name"] == structure
    assert not skeleton.torch_regions
    assert error(asked, skeleton) < 3e-7


@pytest.mark.slow
def test_halves_without_descriptors(tmp_path: Path) -> None:
    asked = asking(*PRODUCTS["linear"])
    first = written(asked, Store(tmp_path), structure="scaled_fp16")
    edits = {first.spec.regions[0].name: {"memory": {"loads": "pointer"}}}
    second = written(asked, Store(tmp_path), spec=first.spec, edits=edits)
    assert "TensorDescriptor" in first.source
    assert "TensorDescriptor" not in second.source
    assert error(asked, second) < 3e-7


@pytest.mark.parametrize("structure", ["tiled", "scaled_fp16"])
def test_under_tf32_operands_are_rounded_not_truncated(structure: str, tmp_path: Path) -> None:
    asked = asking(*PRODUCTS["linear"])
    found = error(asked, written(asked, Store(tmp_path), Policy.TF32, structure=structure))
    assert 1e-5 < found < 4e-4  # truncation gives 7e-4


@pytest.mark.slow
@pytest.mark.parametrize("magnitude", ["1e-30", "1e12"])
def test_halves_are_scaled_to_any_magnitude(magnitude: str, tmp_path: Path) -> None:
    asked = asking("", "a @ b", f"torch.randn(M, K) * {magnitude}, torch.randn(K, N)")
    assert error(asked, written(asked, Store(tmp_path), structure="scaled_fp16")) < 3e-7


@pytest.mark.parametrize("product", INT8_PRODUCTS)
def test_int8_weights(product: str, tmp_path: Path) -> None:
    asked = asking(INT8, INT8_PRODUCTS[product], "torch.randn(M, K)")
    skeleton = written(asked, Store(tmp_path), structure="tiled")
    assert [region.kind for region in skeleton.spec.regions] == ["int8"]
    assert error(asked, skeleton) < 3e-7


@pytest.mark.parametrize(("dtype", "bits"), [("float16", 10), ("bfloat16", 7)])
@pytest.mark.parametrize("structure", ["tiled", "split_k"])
def test_int8_weights_of_half_precision(dtype: str, bits: int, structure: str, tmp_path: Path) -> None:
    scaled = "F.linear(a, self.w.to(a.dtype) * self.s.to(a.dtype)[:, None])"
    asked = asking(INT8, scaled, f"torch.randn(M, K, dtype=torch.{dtype})")
    skeleton = written(asked, Store(tmp_path), structure=structure)
    assert "acc = tl.trans(acc)" in skeleton.source
    assert error(asked, skeleton) < 2.0**-bits


@pytest.mark.slow
@pytest.mark.parametrize("structure", ["tiled", "scaled_fp16"])
def test_compiles_to_wgmma_without_spilling(structure: str, tmp_path: Path) -> None:
    asked = asking(*PRODUCTS["transposed"])
    skeleton = written(asked, Store(tmp_path), structure=structure)
    launches = static_profile(asked, skeleton.source, DEVICE, Policy.STOCK, Store(tmp_path)).launches
    product = next(launch for launch in launches if launch.kernel.endswith("_product"))
    assert product.tensor_core == "wgmma"
    assert all(launch.spills == 0 and launch.shared_bytes <= DEVICE.shared_bytes for launch in launches)
