"""Folding the graph's stream into rows."""

from io import StringIO

from rich.console import Console

from egg.live import draw
from egg.progress import Progress
from egg.state.candidate import Attempt
from egg.state.evaluation import Baseline, Evaluation, Status, Timing
from egg.state.ledger import Decision, Verb
from egg.state.usage import Spend, Usage
from tests.graph.make import DEVICE, candidate

STAGE = ("seed:t1",)


def started(name, task, ns=(), **data):
    return {"type": "tasks", "ns": ns, "data": {"id": task, "name": name, "input": data, "triggers": ()}}


def ended(name, task, ns=()):
    data = {"id": task, "name": name, "error": None, "result": {}, "interrupts": []}
    return {"type": "tasks", "ns": ns, "data": data}


def update(node, ns=(), **values):
    return {"type": "updates", "ns": ns, "data": {node: values}}


def bill(calls):
    return Usage(by_agent={"seed-1/code": Spend(calls=calls, input_tokens=10 * calls)})


def fed(*events):
    progress = Progress()
    lines = [line for event in events for line in progress.feed(event)]
    return progress, lines


def test_a_seed_is_a_row_by_its_branch_between_baseline_and_choose():
    progress, lines = fed(started("seed", "t1", branch="seed-1"), started("seed", "t2", branch="seed-2"))
    assert list(progress.rows)[:5] == ["intake", "baseline", "seed-1", "seed-2", "choose"]
    assert progress.rows["seed-1"].state == "running"
    assert lines == ["seed-1 ...", "seed-2 ..."]


def test_what_runs_inside_a_seed_shows_in_its_row():
    progress, _ = fed(
        started("seed", "t1", branch="seed-1"),
        started("code", "t9", ns=STAGE),
        started("model", "t10", ns=(*STAGE, "code:t9")),
    )
    assert progress.rows["seed-1"].doing == "code: model"


def test_spend_counts_a_running_stage_once_and_a_finished_one_once():
    running = [started("seed", "t1", branch="seed-1"), update("code", ns=STAGE, usage=bill(2))]
    progress, _ = fed(*running)
    assert progress.spend.calls == 2
    progress, _ = fed(*running, update("seed", usage=bill(2)), ended("seed", "t1"))
    assert progress.spend.calls == 2 and progress.rows["seed-1"].state == "done"


def test_what_a_stage_was_billed_is_told_when_it_ends_and_stands_in_its_row():
    paid = Usage(by_agent={"seed-1/code": Spend(calls=2, input_tokens=900, priced=2, nano_usd=12_000_000)})
    running = [started("seed", "t1", branch="seed-1"), update("code", ns=STAGE, usage=paid)]
    progress, _ = fed(*running)
    assert progress.spent(progress.rows["seed-1"]).calls == 2
    progress, lines = fed(*running, update("seed", usage=paid), ended("seed", "t1"))
    assert lines[-1] == "  seed-1: spent 2 calls, 900 tokens, $0.0120"
    assert progress.spent(progress.rows["seed-1"]).calls == 2
    console = Console(width=120, record=True, file=StringIO())
    console.print(draw("run-1", progress, 3.0))
    text = console.export_text()
    assert text.count("2 calls, 900 tokens, $0.0120") == 2, "in the stage's row and below"


def test_the_rulebook_bills_nobody():
    free = Usage(by_agent={"seed-1/code": Spend(calls=2, free=2)})
    running = [started("seed", "t1", branch="seed-1"), update("code", ns=STAGE, usage=free)]
    _, lines = fed(*running, update("seed", usage=free), ended("seed", "t1"))
    assert lines == ["seed-1 ..."]


def test_verdicts_and_decisions_become_lines():
    verdict = Attempt(id="abc", origin="seed-1", status="mismatch")
    decision = Decision(step=1, stage="seed-1", verb=Verb.KEPT, what="one pass", why="w", evidence="1 ms (estimate)")
    progress, lines = fed(
        started("seed", "t1", branch="seed-1"),
        update("judge", ns=STAGE, attempts=(verdict,)),
        update("seed", ledger=(decision,)),
    )
    assert lines[1:] == ["  seed-1: kernel abc mismatch", "seed-1 kept: one pass (1 ms (estimate))"]
    assert progress.rows["seed-1"].tried == 1
    assert progress.rows["seed-1"].result == "kept: one pass"


def test_the_best_kernel_stays_whatever_the_order():
    slow, fast = candidate("slow", estimate_ms=2.0), candidate("fast", estimate_ms=1.0)
    progress, _ = fed(update("seed", incumbent=slow), update("seed", incumbent=fast), update("seed", incumbent=slow))
    assert progress.incumbent == fast
    assert progress.gain == 0.5


def test_gain_is_over_eager_only_where_both_were_measured():
    timed = Timing(median_ms=1.0, p20_ms=0.9, p80_ms=1.1, samples=9)
    eager = timed.model_copy(update={"median_ms": 4.0})
    kernel = candidate("k").model_copy(update={"evaluation": Evaluation(status=Status.OK, mode="gpu", timing=timed)})
    progress, _ = fed(
        update("baseline", baseline=Baseline(eager=eager, roofline_ms=0.1, bound="memory")),
        update("seed", incumbent=kernel),
    )
    assert progress.gain == 0.25


def test_a_resumed_run_shows_what_was_done():
    decision = Decision(step=1, stage="seed-1", verb=Verb.KEPT, what="one pass", why="w", evidence="e")
    progress = Progress()
    progress.restore({"problem": "p", "ledger": (decision,), "usage": bill(3), "incumbent": candidate()})
    assert progress.rows["intake"].state == progress.rows["seed-1"].state == "done"
    assert progress.rows["baseline"].state == "waiting"
    assert progress.spend.calls == 3 and progress.incumbent is not None


def test_the_picture_calls_an_estimate_an_estimate():
    progress, _ = fed(update("intake", device=DEVICE), update("seed", incumbent=candidate("k", estimate_ms=1.5)))
    console = Console(width=120, record=True, file=StringIO())
    console.print(draw("run-1", progress, 3.0))
    text = console.export_text()
    assert "times are estimates" in text and "1.5 ms (estimate)" in text
    assert "measured" not in text and "eager" not in text


def test_a_wait_for_the_provider_is_shown():
    waits = {"type": "custom", "ns": (*STAGE, "code:t2"), "data": {"waits": "HTTP 429 from the model provider"}}
    progress, lines = fed(started("seed", "t1", branch="seed-1"), waits)
    assert lines[-1] == "  seed-1: HTTP 429 from the model provider"
    assert progress.rows["seed-1"].doing == "HTTP 429 from the model provider"
    assert fed(started("seed", "t1", branch="seed-1"), {**waits, "data": {"other": 1}})[1] == ["seed-1 ..."]


def test_who_waits_for_an_answer_is_said_and_a_refused_kernel_is_given_back():
    asks = {"id": "t1", "name": "seed", "error": None, "result": {}, "interrupts": [{"value": {}}]}
    kept = candidate(origin="seed-1", estimate_ms=1.0)
    events = [started("seed", "t1", branch="seed-1"), update("judge", ns=STAGE, incumbent=kept)]
    progress, _ = fed(*events, {"type": "tasks", "ns": (), "data": asks})
    assert (progress.rows["seed-1"].state, progress.rows["seed-1"].doing) == ("running", "waits for an answer")
    other = candidate(source="other", origin="seed-2", estimate_ms=2.0)
    list(progress.feed(update("seed", incumbent=other)))
    line = Decision(step=1, stage="seed-1", verb=Verb.REFUSED, what="w", why="y", evidence="e")
    list(progress.feed(update("seed", ledger=(line,))))
    assert progress.incumbent == other


def test_a_review_belongs_to_the_row_that_it_is_about():
    line = Decision(step=2, stage="choose", verb=Verb.CHOSEN, what="w", why="y", evidence="e")
    progress, lines = fed(started("review", "t7", decided=line))
    assert "review" not in progress.rows and progress.rows["choose"].state == "running" and not lines
