"""What a run leaves behind."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from egg.state.candidate import Attempt, Candidate
from egg.state.conditions import Clocks, Conditions, Spread, TimedOutputs
from egg.state.evaluation import Accuracy, Baseline, Evaluation, Launch, Speedup, StaticProfile, Status, Timing
from egg.state.fault import HeldOut
from egg.state.isolation import Aspect, Isolation
from egg.state.launch import SourceNote
from egg.state.ledger import Decision, Verb
from egg.state.outcome import Outcome
from egg.state.ownership import Ownership
from egg.state.price import Price
from egg.state.problem import Problem, Region, TensorSpec, Workload
from egg.state.settings import Settings
from egg.state.stock import StockVerdict
from egg.state.usage import Spend, Usage, Work
from egg.tools.artefacts import save_kernel, write_artefacts
from egg.tools.report import cell, milliseconds, quantity
from tests.graph.make import DEVICE

GOLDEN = Path(__file__).parents[1] / "data"
REFERENCE = '"""Doc."""\nfrom __future__ import annotations\nimport torch\n\nclass Model(torch.nn.Module):\n    pass\n'
PROBLEM = Problem(
    name="toy", path="toy.py", source=REFERENCE, small_source="x", small_constants={"ROWS": 33}, digest="d"
)
TENSOR = TensorSpec(shape=(8, 8), dtype="float32")
WORKLOAD = Workload(
    inputs=(TENSOR,),
    outputs=(TENSOR,),
    parameters=0,
    flops=2_000_000,
    matmul_flops=0,
    min_bytes=1024,
    regions=(
        Region(name="r0_softmax", kind="softmax", ops=("_softmax",)),
        Region(name="r1_sort", kind="torch", ops=("sort",), note="no kernel | for sorting"),
    ),
    structures=("one_pass",),
)
LAUNCH = Launch(
    kernel="softmax",
    grid=(8, 1),
    warps=4,
    stages=2,
    registers=40,
    spills=0,
    shared_bytes=512,
    occupancy=0.5,
    limiter="registers",
    waves=0.25,
    bytes=512,
    estimate_ms=0.012,
    load_bits=16,
    notes=(SourceNote(line=9, text="x = tl.load(x_ptr + at)", why="loads 16 bits a thread: 100% of what is loaded"),),
)
LEDGER = (
    Decision(
        step=1, stage="seed-1", verb=Verb.KEPT, what="one pass", why="fits", evidence="0.012 ms (estimate)", kernel="k"
    ),
)
USAGE = Usage(by_agent={"seed-1/code": Spend(calls=3, free=3, sent_tokens=10, own_tokens=5, model_ms=1500)})
BILLED = Spend(
    calls=3,
    priced=3,
    retries=1,
    failed=1,
    unsure=1,
    unsure_tokens=400,
    unsure_nano_usd=500_000,
    input_tokens=1000,
    cached_tokens=400,
    output_tokens=50,
    reasoning_tokens=20,
    nano_usd=1_300_000,
    sent_tokens=1000,
    own_tokens=600,
    model_ms=1500,
)
TUNED = LEDGER[0].model_copy(update={"step": 4, "stage": "tiling", "verb": Verb.SKIPPED})
PAID = Usage(
    by_agent={"seed-1/code": BILLED, "tiling/profile": Spend(calls=1, input_tokens=300, sent_tokens=300, model_ms=200)},
    by_stage={"seed-1": Work(wall_ms=2500, gpu_ms=1200), "tiling": Work(wall_ms=900)},
)
PRICE = Price(
    model="openai:m", input=1.25, cached=0.125, output=10, source="https://p", read="2026-12-01", note="list price"
)


MEASURED: dict[str, Any] = {
    "ownership": Ownership(label="partly_triton", share=0.75, own_ms=0.009, other_ms=0.003, how="cupti"),
    "stock": StockVerdict(correct=True, passed=5, tolerance=1e-4, reference_ms=0.02, candidate_ms=0.01, speedup=2.0),
    "conditions": Conditions(
        sessions=3,
        rounds=30,
        samples={"candidate": 360, "eager": 360},
        outputs=TimedOutputs(checked=12, of=360, telling=12),
        clocks=Clocks(sm_mhz=Spread(low=1900, median=1980, high=1980), reasons=("power_cap",)),
        left_out={"compile_max": "it took longer than 120 s to compile"},
    ),
}


def kernel(timing: Timing | None = None, speedups: tuple[Speedup, ...] = ()) -> Candidate:
    evaluation = Evaluation(
        status=Status.OK,
        mode="gpu" if timing else "interpreter",
        accuracy=(Accuracy(case="normal", error=1e-7, reference_error=2e-7, budget=4e-7),),
        timing=timing,
        speedups=speedups,
        held_out=(
            HeldOut(sizes={"ROWS": 31}, why="prime", status=Status.OK),
            HeldOut(sizes={}, why="strided", status=Status.MISMATCH, feedback="wrong | everywhere"),
        ),
        deterministic=True,
        isolation=Isolation(level=2, name="filtered", aspects=(Aspect(what="network", how="seccomp", verified=True),)),
        **(MEASURED if timing else {}),
        profile=StaticProfile(target="sm_90", launches=(LAUNCH,), estimate_ms=0.012),
    )
    return Candidate(source="class ModelNew: ...\n", origin="seed-1", structure="one_pass", evaluation=evaluation)


def write(folder: Path, incumbent: Candidate | None, outcome: Outcome, **changes) -> dict[str, str]:
    parts = {
        "settings": Settings(),
        "problem": PROBLEM,
        "workload": WORKLOAD,
        "device": DEVICE,
        "baseline": Baseline(roofline_ms=0.1, bound="memory", note="No GPU here."),
        "ledger": LEDGER,
        "attempts": (Attempt(id="k", origin="seed-1", status="ok", rank_ms=0.012),),
        "usage": USAGE,
        "counted": "4 characters a token",
        "elapsed_ms": 2000,
    }
    return write_artefacts(str(folder), incumbent=incumbent, outcome=outcome, **{**parts, **changes})


def estimated(candidate: Candidate) -> Outcome:
    claim = "correct in the interpreter; nothing was timed"
    return Outcome(
        kernel=candidate.id,
        correct=True,
        measured=False,
        proven_faster=False,
        claim=claim,
        torch_regions=("r1_sort",),
    )


def measured() -> tuple[Candidate, Outcome, dict[str, object]]:
    speedups = (Speedup(baseline="eager", ratio=2.0, low=1.9, high=2.1),)
    fast = kernel(Timing(median_ms=0.5, p20_ms=0.49, p80_ms=0.52, samples=100), speedups)
    outcome = Outcome(
        kernel=fast.id, correct=True, measured=True, proven_faster=True, speedups=speedups, claim="faster: 2.00x eager"
    )
    eager = Timing(median_ms=1.0, p20_ms=0.99, p80_ms=1.02, samples=100)
    present = DEVICE.model_copy(update={"present": True, "software": {"triton": "3.6", "torch": "2.11"}})
    told = {"usage": PAID, "ledger": (*LEDGER, TUNED), "prices": (PRICE,)}
    baseline = Baseline(eager=eager, roofline_ms=0.4, bound="memory")
    return fast, outcome, {"device": present, "baseline": baseline, **told}


@pytest.mark.parametrize("case", ["estimated", "measured"])
def test_report_is_as_agreed(case, tmp_path, monkeypatch):
    monkeypatch.setattr("egg.tools.artefacts.error_told", lambda target: f"as wrong as it is on {target}")
    if case == "estimated":
        candidate = kernel()
        files = write(tmp_path, candidate, estimated(candidate))
    else:
        candidate, outcome, changes = measured()
        files = write(tmp_path, candidate, outcome, **changes)
    golden = GOLDEN / f"report-{case}.md"
    text = Path(files["report"]).read_text()
    if os.environ.get("EGG_UPDATE_GOLDEN"):
        golden.write_text(text)
    assert text == golden.read_text()


def test_an_estimate_is_never_shown_as_a_speedup(tmp_path):
    candidate = kernel()
    files = write(tmp_path, candidate, estimated(candidate))
    text = Path(files["report"]).read_text()
    assert "Over eager" not in text
    assert "Best kernel | not measured" in text
    assert json.loads(Path(files["evidence"]).read_text())["outcome"]["speedups"] == []


def test_kernel_file_is_the_winner(tmp_path):
    candidate = kernel()
    files = write(tmp_path, candidate, estimated(candidate))
    assert Path(files["kernel"]).read_text() == candidate.source
    assert set(files) == {"kernel", "evidence", "report"}


def test_evidence_names_the_winner_and_holds_no_source(tmp_path):
    candidate = kernel()
    evidence = json.loads(Path(write(tmp_path, candidate, estimated(candidate))["evidence"]).read_text())
    assert evidence["winner"]["id"] == candidate.id
    assert "source" not in evidence["winner"] and "source" not in evidence["problem"]
    assert evidence["usage"]["total"]["calls"] == 3


def test_evidence_tells_the_bill_the_prices_and_the_context(tmp_path):
    candidate, outcome, changes = measured()
    evidence = json.loads(Path(write(tmp_path, candidate, outcome, **changes)["evidence"]).read_text())
    assert evidence["usage"]["by_agent"]["seed-1/code"]["cached_tokens"] == 400
    assert evidence["usage"]["by_stage"]["seed-1"] == {"wall_ms": 2500, "gpu_ms": 1200}
    assert evidence["prices"][0]["source"] == "https://p"
    seed, tiling = evidence["context"]["stages"]
    assert (seed["sent"], seed["unpruned"]) == (1000, 1000)
    assert (tiling["sent"], tiling["unpruned"]) == (300, 900), "one call, with the seed's 600 tokens before it"
    assert (evidence["context"]["sent"], evidence["context"]["unpruned"]) == (1300, 1900)


def test_without_a_kernel_the_reference_is_delivered_and_says_so(tmp_path):
    outcome = Outcome(kernel=None, correct=True, measured=False, proven_faster=False, claim="no kernel\npassed")
    path = Path(write(tmp_path, kernel(), outcome)["kernel"])
    text = path.read_text()
    assert text.startswith("# EGG delivers the reference itself: no kernel passed\n")
    stub = tmp_path / "torch.py"
    stub.write_text("class nn:\n    class Module: ...\n")
    check = "import kernel; assert kernel.ModelNew is kernel.Model"
    subprocess.run([sys.executable, "-c", check], cwd=tmp_path, check=True)


def test_an_outcome_must_name_the_incumbent(tmp_path):
    outcome = estimated(kernel()).model_copy(update={"kernel": "another"})
    with pytest.raises(ValueError, match="not the incumbent"):
        write(tmp_path, kernel(), outcome)
    assert not list(tmp_path.iterdir())


def test_writing_again_changes_nothing(tmp_path):
    candidate = kernel()
    first = {n: Path(p).read_bytes() for n, p in write(tmp_path, candidate, estimated(candidate)).items()}
    second = {n: Path(p).read_bytes() for n, p in write(tmp_path, candidate, estimated(candidate)).items()}
    assert first == second
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]


def test_kernels_are_kept_by_content(tmp_path):
    candidate = kernel()
    path = save_kernel(str(tmp_path), candidate)
    assert path == tmp_path / "kernels" / f"{candidate.id}.py"
    assert path.read_text() == candidate.source


def test_numbers_for_people():
    assert milliseconds(None) == "–"
    assert milliseconds(0.0123) == "12.3 µs"
    assert milliseconds(12.34) == "12.3 ms"
    assert quantity(1_070_000_000, "B") == "1.07 GB"
    assert quantity(5e17, "B") == "5e+05 TB"
    assert cell("a|b\nc") == "a\\|b c"
