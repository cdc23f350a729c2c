"""Candidates compiled for a GPU that is not here, through the real sandbox and the real compiler."""

from pathlib import Path

import pytest

from egg.state.evaluation import StaticProfile, Status
from egg.state.settings import Policy
from egg.tools.compile import KEPT, static_profile
from egg.tools.device import detect_device
from egg.tools.errors import CandidateError
from egg.tools.place import useful_bytes
from egg.tools.store import Store
from egg.tools.verdict_profile import estimated
from tests.tools.profiled import DESCRIBED, DOUBLING, PRODUCT, SCALE, candidate, problem


def profile(source: str, folder: Path, target: str = "sm_90") -> StaticProfile:
    return static_profile(problem(), source, detect_device(target), Policy.TF32, Store(folder))


def failure(source: str, folder: Path) -> CandidateError:
    with pytest.raises(CandidateError) as raised:
        profile(source, folder)
    return raised.value


def test_one_launch(tmp_path: Path) -> None:
    found = profile(DOUBLING, tmp_path)
    (launch,) = found.launches
    assert (launch.kernel, launch.grid, launch.warps) == ("double", (512, 1, 1), 4)
    assert launch.bytes == 2 * 1024 * 512 * 4
    assert 8 <= launch.registers <= 64 and launch.spills == 0 and launch.shared_bytes == 0
    assert launch.occupancy > 0.5 and launch.tensor_core == "none"
    assert found.torch_ops == () and found.estimate_ms == launch.estimate_ms > 0


def test_an_autotuned_product_in_tensor_cores_and_what_pytorch_does_besides(tmp_path: Path) -> None:
    forward = """
y = torch.empty(x.shape[0], x.shape[1], device=x.device)
grid = lambda meta: (triton.cdiv(x.shape[0], meta["BM"]), x.shape[1] // 64)
product[grid](x, self.fc.weight, y, y.shape[1], x.shape[1])
return torch.relu(y + self.fc.bias)
"""
    found = profile(candidate(PRODUCT, forward), tmp_path)
    (launch,) = found.launches
    assert launch.kernel == "product" and launch.tensor_core == "wgmma"
    assert (launch.grid, launch.warps) in [((16, 8, 1), 4), ((8, 8, 1), 8)]
    assert launch.shared_bytes > 8192
    assert found.torch_ops == ("add", "relu")
    assert found.estimate_ms > launch.estimate_ms


def test_the_same_product_for_an_older_target(tmp_path: Path) -> None:
    forward = "y = torch.empty_like(x)\nproduct[lambda m: (8, 8)](x, self.fc.weight, y, 512, 512)\nreturn y"
    (launch,) = profile(candidate(PRODUCT, forward), tmp_path, "sm_80").launches
    assert launch.tensor_core == "mma"


def test_equal_launches_are_one_and_constexprs_tell_kernels_apart(tmp_path: Path) -> None:
    forward = """
y = torch.empty_like(x)
for block in (1024, 256, 1024):
    double[(triton.cdiv(x.numel(), block),)](x, y, x.numel(), BLOCK=block)
return y
"""
    launches = profile(candidate(SCALE, forward), tmp_path).launches
    assert [(launch.grid[0], launch.calls) for launch in launches] == [(512, 2), (2048, 1)]


def test_descriptors_and_a_persistent_grid_that_asks_for_the_gpu(tmp_path: Path) -> None:
    forward = """
y = torch.empty(x.shape, device="cuda")
count = torch.cuda.get_device_properties(x.device).multi_processor_count
both = [TensorDescriptor.from_tensor(t, [16, 128]) for t in (x, y)]
tiles[(count,)](*both, x.shape[0] // 16, STEP=count)
return y
"""
    (launch,) = profile(candidate(DESCRIBED, forward), tmp_path).launches
    assert launch.grid == (132, 1, 1) and launch.bytes == 2 * 1024 * 512 * 4


def test_no_launch_at_all_is_a_profile_without_launches(tmp_path: Path) -> None:
    found = profile(candidate("", "return torch.relu(self.fc(x))"), tmp_path)
    assert found.launches == () and found.torch_ops == ("addmm", "relu")


def test_of_many_launches_the_longest_are_listed_in_their_order(tmp_path: Path) -> None:
    forward = """
y = torch.empty_like(x)
for grid in (*range(1, 41), 500, *range(41, 81), 512):
    double[(grid,)](x, y, x.numel(), BLOCK=1024)
return torch.relu(y)
"""
    found = profile(candidate(SCALE, forward), tmp_path)
    grids = [launch.grid[0] for launch in found.launches]
    order = (*range(1, 41), 500, *range(41, 81), 512)
    assert len(grids) == KEPT and {500, 512} < {*grids} and grids == sorted(grids, key=order.index)
    told = estimated(found)
    theirs = next(kernel for kernel in told.kernels if not kernel.own)
    assert found.unlisted_ms > 0 and theirs.ms == found.torch_ms and theirs.kernel == "PyTorch: relu"
    assert told.total_ms == pytest.approx(sum(kernel.ms for kernel in told.kernels) + found.unlisted_ms)


def test_an_empty_grid_launches_nothing(tmp_path: Path) -> None:
    forward = """
y = torch.empty_like(x)
for grid in ((0,), (4, 0), (512,)):
    double[grid](x, y, x.numel(), BLOCK=1024)
return y
"""
    assert [launch.grid for launch in profile(candidate(SCALE, forward), tmp_path).launches] == [(512, 1, 1)]
    negative = forward.replace("(4, 0)", "(-4, -1)")
    assert "invalid argument" in failure(candidate(SCALE, negative), tmp_path).feedback


def test_a_loop_that_its_data_bound_is_said_to_be_guessed(tmp_path: Path) -> None:
    kernels = """
@triton.jit
def ragged(x, y, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for step in range(tl.load(x).to(tl.int32)):
        total += tl.load(x + step * BLOCK + tl.arange(0, BLOCK))
    tl.store(y + tl.arange(0, BLOCK), total)
"""
    forward = "y = torch.empty_like(x)\nragged[(1,)](x, y, x.numel(), BLOCK=1024)\nreturn y"
    (launch,) = profile(candidate(kernels, forward), tmp_path).launches
    assert launch.guessed and useful_bytes(launch) == launch.bytes > launch.loaded_bytes + launch.stored_bytes


def test_views_of_one_tensor_count_once(tmp_path: Path) -> None:
    forward = "half = x[:512]\ndouble[(512,)](half, x, x.numel(), BLOCK=1024)\nreturn x"
    (launch,) = profile(candidate(SCALE, forward), tmp_path).launches
    assert launch.bytes == 1024 * 512 * 4


@pytest.mark.parametrize(
    ("kernels", "forward", "status", "said"),
    [
        (SCALE.replace("v * 2", "v * missing"), "", Status.COMPILE_ERROR, "line 9 (`tl.store(y + at, v * missing"),
        (SCALE.replace("v * 2", "v + tl.arange(0, 64)"), "", Status.COMPILE_ERROR, "line 9 "),
        (SCALE, "return x.sum().item()", Status.RUNTIME_ERROR, "no .item()"),
        (SCALE, "assert x.is_cuda\nreturn x", Status.RUNTIME_ERROR, "no is_cuda"),
        (SCALE, "torch.cuda.current_stream()\nreturn x", Status.RUNTIME_ERROR, "must not ask torch.cuda"),
        (SCALE, "double[(1,)](x, x, 5, BLOCK=128, TILE=3)\nreturn x", Status.RUNTIME_ERROR, "Keyword argument TILE"),
        (SCALE, "double[(1,)](x, x, 5, BLOCK=100)\nreturn x", Status.COMPILE_ERROR, "power of 2"),
        ("x = (", "return x", Status.COMPILE_ERROR, "syntax error"),
    ],
)
def test_failures_name_the_line(kernels: str, forward: str, status: Status, said: str, tmp_path: Path) -> None:
    usual = "double[(1,)](x, x, x.numel(), BLOCK=1024)\nreturn x"
    error = failure(candidate(kernels, forward or usual), tmp_path)
    assert error.status is status
    assert said in error.feedback


def test_a_kernel_that_needs_too_much_shared_memory(tmp_path: Path) -> None:
    wide = PRODUCT.replace(", 32)", ", 256)").replace("K, 32", "K, 256")
    wide = wide.replace(', triton.Config({"BM": 128}, num_warps=8)', "")
    forward = "y = torch.empty_like(x)\nproduct[lambda m: (8, 8)](x, self.fc.weight, y, 512, 512)\nreturn y"
    error = failure(candidate(wide, forward), tmp_path)
    assert error.status is Status.COMPILE_ERROR and "shared memory, the GPU has 232448" in error.feedback


def test_a_module_that_needs_real_values_to_be_built(tmp_path: Path) -> None:
    init = "self.rate = torch.linspace(0, 1, 3)[1].item()"
    source = candidate(SCALE, "double[(512,)](x, x, x.numel(), BLOCK=1024)\nreturn x", init)
    assert len(profile(source, tmp_path).launches) == 1


def test_the_second_time_nothing_is_compiled(tmp_path: Path) -> None:
    source = DOUBLING + "\n# of its own\n"
    first = profile(source, tmp_path)
    assert profile(source, tmp_path) == first
    assert (tmp_path / "journal.jsonl").read_text().count('"profile"') == 1
