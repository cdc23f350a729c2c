"""What a static profile tells of kernels, each compiled for real, apart from the candidate that launches it."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from egg.state.evaluation import Launch, Status
from egg.state.settings import Policy
from egg.tools import kernels
from egg.tools.compile import static_profile
from egg.tools.device import detect_device
from egg.tools.errors import CandidateError
from egg.tools.store import Store
from tests.tools.profiled import SCALE, candidate, problem

PRODUCT = """
from triton.runtime.errors import OutOfResources


@triton.jit
def product(x, w, y, N, K, BM: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * 64 + tl.arange(0, 64)
    acc = tl.zeros((BM, 64), tl.float32)
    for k in range(0, K, BK):
        inner = k + tl.arange(0, BK)
        left = tl.load(x + rows[:, None] * K + inner[None, :]).to(tl.float16)
        right = tl.load(w + columns[None, :] * K + inner[:, None]).to(tl.float16)
        acc = tl.dot(left, right, acc)
    tl.store(y + rows[:, None] * N + columns[None, :], acc)
"""
SETTINGS = "[(32, 32, 2), (64, 32, 2), (64, 64, 9)]"
CONFIG = 'triton.Config({"BM": m, "BK": k}, num_warps=4, num_stages=s)'
TUNED = PRODUCT.replace(
    "@triton.jit", f'@triton.autotune([{CONFIG} for m, k, s in {SETTINGS}], key=["K"])\n@triton.jit'
)
CALL = """
product[(x.shape[0] // {bm}, 8)](
    x, self.fc.weight, y, 512, 512, BM={bm}, BK={bk}, num_warps=4, num_stages={stages}
)""".replace("\n", "")
ASSEMBLY = """
@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at)
    v = tl.inline_asm_elementwise("{text} $0, $1, $1;", "=f,f", [v], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(y + at, v)
"""
DOUBLE = "y = torch.empty_like(x)\ndouble[(512,)](x, y, x.numel(), BLOCK=1024)\nreturn y"
CLASSES = {"sm_90": "wgmma", "sm_100": "tcgen05", "gfx942": "mfma"}


def launches(kernel: str, forward: str, folder: Path, target: str = "sm_90") -> tuple[Launch, ...]:
    store = Store(folder, folder / "cache")
    return static_profile(problem(), candidate(kernel, forward), detect_device(target), Policy.TF32, store).launches


def journal(folder: Path, kind: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
    return [line for line in lines if line["kind"] == kind]


@pytest.mark.parametrize(
    "target",
    [
        "sm_80",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("sm_86", "sm_89")),
        "sm_90",
        "sm_100",
        "sm_120",
        "gfx942",
    ],
)
def test_every_target(target: str, tmp_path: Path) -> None:
    (launch,) = launches(
        PRODUCT, f"y = torch.empty_like(x)\n{CALL.format(bm=64, bk=32, stages=2)}\nreturn y", tmp_path, target
    )
    assert launch.tensor_core == CLASSES.get(target, "mma")
    assert 16 < launch.registers < 256 and launch.spills == 0 and 0 < launch.shared_bytes < 64 << 10
    assert 0 < launch.occupancy <= 1 and launch.waves > 0 and launch.estimate_ms > 0
    assert launch.flops["fp16"] == 2 * 1024 * 512 * 512
    assert launch.loaded_bytes == 4 * (1024 * 512 * 8 + 512 * 512 * 16) and launch.stored_bytes == 4 * 1024 * 512
    assert launch.load_bits == 128 and launch.store_bits in (64, 128)


def test_arguments_and_options(tmp_path: Path) -> None:
    forward = "y = torch.empty_like(x)\ndouble[(512,)](x, y[0, 1:], 1023, BLOCK=1024, maxnreg=64)\nreturn y"
    (launch,) = launches(SCALE.replace(", n,", ", n, one,"), forward.replace("1023,", "1023, 1,"), tmp_path)
    told = {each.name: (each.type, each.divisible_by_16, each.value) for each in launch.arguments}
    assert told == {
        "x": ("*fp32", True, None),
        "y": ("*fp32", False, None),
        "n": ("i32", False, None),
        "one": ("constexpr", False, "1"),
        "BLOCK": ("constexpr", False, "1024"),
    }
    assert launch.options == {"maxnreg": "64"}


def test_all_configurations_of_an_autotuned_kernel(tmp_path: Path) -> None:
    forward = "y = torch.empty_like(x)\nproduct[lambda m: (x.shape[0] // m['BM'], 8)](x, self.fc.weight, y, 512, 512)"
    (launch,) = launches(TUNED, f"{forward}\nreturn y", tmp_path)
    assert [(each.values["BM"], each.status) for each in launch.configs] == [
        ("32", "compiled"),
        ("64", "compiled"),
        ("64", "does not fit"),
    ]
    assert "shared memory" in launch.configs[2].why and launch.configs[2].estimate_ms is None
    fitting = [each.estimate_ms for each in launch.configs[:2]]
    (chosen,) = (each for each in launch.configs if each.chosen)
    assert chosen.estimate_ms == min(ms for ms in fitting if ms) == launch.estimate_ms
    assert all(each.registers > 16 and each.occupancy > 0 for each in launch.configs[:2])
    assert launch.grid[0] == 1024 // int(chosen.values["BM"])
    assert launch.brief().configs == ()


def test_a_kernel_that_has_only_moved_is_not_compiled_again(tmp_path: Path) -> None:
    first = launches(SCALE, DOUBLE, tmp_path)
    assert len(journal(tmp_path, "kernel")) == 1
    assert launches(f"\n# a remark\n\n{SCALE}", f"# another\n{DOUBLE}", tmp_path) == first
    assert len(journal(tmp_path, "profile")) == 2 and len(journal(tmp_path, "kernel")) == 1
    launches(SCALE.replace("v * 2", "v * 3"), DOUBLE, tmp_path)
    assert len(journal(tmp_path, "kernel")) == 2


@pytest.mark.skipif(kernels.CORES < 2, reason="one core compiles one kernel at a time")
def test_kernels_are_compiled_side_by_side(tmp_path: Path) -> None:
    calls = [CALL.format(bm=bm, bk=bk, stages=2) for bm in (32, 64) for bk in (32, 64)]
    assert len(launches(PRODUCT, "\n".join(["y = torch.empty_like(x)", *calls, "return y"]), tmp_path)) == 4
    spans = sorted((line["end"] - line["seconds"], line["end"]) for line in journal(tmp_path, "kernel"))
    assert len(spans) == 4 and any(after[0] < before[1] for before, after in zip(spans, spans[1:], strict=False))


def test_the_candidates_own_way_out_is_taken(tmp_path: Path) -> None:
    large, small = CALL.format(bm=64, bk=64, stages=9), CALL.format(bm=64, bk=32, stages=2)
    forward = f"y = torch.empty_like(x)\ntry:\n    {large}\nexcept OutOfResources:\n    {small}\nreturn y"
    (launch,) = launches(PRODUCT, forward, tmp_path)
    assert launch.grid == (16, 8, 1)


def test_host_code_may_ask_what_became_of_a_kernel(tmp_path: Path) -> None:
    forward = """
y = torch.empty_like(x)
kernel = double.warmup(x, y, x.numel(), BLOCK=1024, grid=(1,))
kernel._init_handles()
double[(kernel.n_regs, kernel.n_spills + 1, kernel.metadata.shared + 2)](x, y, x.numel(), BLOCK=1024)
return y
"""
    (launch,) = launches(SCALE, forward, tmp_path)
    assert launch.grid == (launch.registers, 1, 2)


def test_a_narrow_load_has_its_line(tmp_path: Path) -> None:
    kernel = SCALE.replace("tl.load(x + at,", "tl.load(x + at * 3,")
    (launch,) = launches(kernel, f"x = x.to(torch.int8)\n{DOUBLE}", tmp_path)
    assert launch.load_bits == launch.narrowest_load_bits == 8
    (note,) = launch.notes
    assert note.text == "v = tl.load(x + at * 3, mask=at < n)" and note.why.startswith("loads 8 bits a thread")
    assert candidate(kernel, "").splitlines()[note.line - 1].strip() == note.text


def test_a_spill_has_its_line_and_a_local_array_is_none(tmp_path: Path) -> None:
    sine = SCALE.replace("v * 2", "tl.sin(v * 2)")
    (plain,) = launches(sine, DOUBLE, tmp_path)
    assert plain.spills == 0
    (tight,) = launches(
        SCALE.replace("v * 2", "v * tl.sum(v * v, 0)"),
        DOUBLE.replace("=1024", "=1024, num_warps=1, maxnreg=24"),
        tmp_path,
    )
    assert tight.spills > 0 and tight.stack_bytes >= tight.spills and tight.registers <= 24
    assert any("spills" in note.why and "tl." in note.text for note in tight.notes)


@pytest.mark.parametrize(
    ("target", "text", "said"),
    [("sm_90", "nonsense.f32", "known instruction: 'nonsense'"), ("gfx942", "add.f32", "constraint 'f'")],
)
def test_the_compilers_complaint_and_the_line_of_the_launch(target: str, text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(CandidateError) as raised:
        launches(ASSEMBLY.format(text=text), DOUBLE, tmp_path, target)
    assert raised.value.status is Status.COMPILE_ERROR
    if "compiler crashed" in raised.value.feedback:  # LLVM of Triton 3.6 ends the process
        assert target == "gfx942"
        return
    assert said in raised.value.feedback and "line 20 (`double[(512,)]" in raised.value.feedback


def test_more_threads_than_a_block_may_have(tmp_path: Path) -> None:
    with pytest.raises(CandidateError, match="needs 2048 of threads, the GPU has 1024"):
        launches(SCALE, DOUBLE.replace("=1024", "=4096, num_warps=32"), tmp_path, "gfx942")


def test_a_compiler_that_was_killed_is_replaced(tmp_path: Path) -> None:
    launches(SCALE, DOUBLE, tmp_path)
    idle = [worker for owner, worker in kernels._compilers._idle if owner == os.getpid()]
    assert idle
    for worker in idle:
        assert worker._pid is not None
        os.kill(worker._pid, signal.SIGKILL)
    assert launches(SCALE.replace("v * 2", "v * 5"), DOUBLE, tmp_path)
