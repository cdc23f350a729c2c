"""The run's own nodes: what happens before the first seed and after the last stage."""

from pathlib import Path

from langchain_core.runnables import RunnableConfig

from egg.agents.backbone import asked_instead, check_backbone
from egg.agents.exchange import ExchangeLog
from egg.agents.prices import check_priced, price_of
from egg.agents.tokens import how
from egg.graph.decide import first_line, milliseconds
from egg.graph.routes import exhausted, ledger_of
from egg.graph.stages import CHOOSE_STEP, CONFIRM_STEP
from egg.graph.work import on_gpu, work
from egg.state.backbone import ROLES
from egg.state.candidate import Candidate
from egg.state.errors import UserError
from egg.state.evaluation import Evaluation
from egg.state.intake import Intake
from egg.state.ledger import Decision, Verb
from egg.state.outcome import Outcome
from egg.state.price import Price
from egg.state.problem import Workload
from egg.state.run import RunInput, RunState
from egg.state.settings import Settings
from egg.state.usage import Usage
from egg.tools.artefacts import write_artefacts
from egg.tools.clock import elapsed
from egg.tools.device import detect_device
from egg.tools.expert import spec_of
from egg.tools.expert.spec import TORCH
from egg.tools.folders import fresh_run_dir, runs_dir
from egg.tools.judge import judge
from egg.tools.kept import mark_of
from egg.tools.operators import computes
from egg.tools.problem import load_problem
from egg.tools.store import Store
from egg.tools.timing.measure import measure_baseline
from egg.tools.workload import analyse


def intake(state: RunInput, config: RunnableConfig) -> RunState:
    """Check everything a person can get wrong, then load and trace the problem."""
    run_dir = state.run_dir or str(_own_folder(config["configurable"].get("thread_id"), Path(state.problem_file).stem))
    elapsed(run_dir, 0)  # starts the clock
    found = None if mark_of(run_dir) else _checked(state)
    try:
        Path(run_dir).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"cannot write the run folder {run_dir}: {error.strerror}"
        raise UserError(f"{what}; choose another with --run-dir") from None
    store = Store(run_dir)
    taken = store.witness("intake", {}, Intake, lambda: found or _checked(state), anew=True)
    return RunState(
        run_dir=run_dir,
        settings=taken.settings,
        problem=taken.problem,
        workload=analyse(taken.problem, taken.settings.policy, store),
        device=taken.device,
        elapsed_ms=elapsed(run_dir, 0),
    )


def _checked(state: RunInput) -> Intake:
    check_backbone(state.settings)
    check_priced(state.settings)
    device = detect_device(state.settings.target)
    return Intake(settings=state.settings, device=device, problem=load_problem(state.problem_file))


def baseline(state: RunState) -> RunState:
    """Time the reference under the run's policy, where there is a GPU to time it on."""
    began = elapsed(state["run_dir"], state["elapsed_ms"])
    with on_gpu(state["run_dir"], "baseline"):
        measured = measure_baseline(
            state["problem"], state["workload"], state["device"], state["settings"].policy, Store(state["run_dir"])
        )
    spent = elapsed(state["run_dir"], state["elapsed_ms"])
    return RunState(baseline=measured, elapsed_ms=spent, usage=work(state["run_dir"], "baseline", spent - began))


def choose(state: RunState) -> RunState:
    """Record which seed goes on. The reducer has already kept the best one and dropped the others."""
    incumbent, ledger = state.get("incumbent"), ledger_of(state)
    if incumbent is None:
        without = "every seed failed" if {d.verb for d in ledger} == {Verb.FAILED} else "no seed is left"
        why = without if ledger else "the expert library writes no kernel for any region of this module"
        line = _decision(CHOOSE_STEP, "choose", Verb.FAILED, "no seed", why, "the reference stays", None)
        return _settled(state, line)
    others = [d for d in ledger if d.kernel and d.kernel != incumbent.id]
    why = "the fastest correct seed" if others else "the only correct seed"
    evidence = "; ".join(f"{d.stage} {d.evidence}" for d in ledger if d.kernel)
    what = f"{incumbent.origin}: {incumbent.rationale or incumbent.structure}"
    return _settled(state, _decision(CHOOSE_STEP, "choose", Verb.CHOSEN, what, why, evidence, incumbent))


def confirm(state: RunState) -> RunState:
    """Judge the winner once more, in fresh processes with fresh seeds and held-out shapes, and decide what to claim."""
    incumbent = state.get("incumbent")
    ended, began = exhausted(state), elapsed(state["run_dir"], state["elapsed_ms"])
    verdict: Evaluation | None = None
    if incumbent is None:
        why = _why_none(state)
        outcome = fallback(state, f"{why}; the result is the reference module")
    else:
        with on_gpu(state["run_dir"], "confirm"):
            verdict = judge(
                state["problem"],
                incumbent.source,
                state["device"],
                state["settings"].policy,
                Store(state["run_dir"]),
                confirm=True,
            )
        incumbent = incumbent.model_copy(update={"evaluation": verdict})
        outcome = _claim(state, incumbent, verdict)
    if ended:
        outcome = outcome.model_copy(update={"ended": f"out of budget: {ended}"})
    verb = Verb.CONFIRMED if outcome.kernel else Verb.FELL_BACK
    evidence = _evidence(incumbent, verdict)
    what = f"kernel {outcome.kernel}" if outcome.kernel else "the reference module"
    kept = incumbent if outcome.kernel else None
    line = _decision(CONFIRM_STEP, "confirm", verb, what, outcome.claim, evidence, kept)
    spent = elapsed(state["run_dir"], state["elapsed_ms"])
    settled = _settled(state, line)
    took = work(state["run_dir"], "confirm", spent - began)
    return RunState(**settled, outcome=outcome, confirmation=verdict, elapsed_ms=spent, usage=took)


def report(state: RunState, config: RunnableConfig) -> RunState:
    """Write what the user came for: kernel.py, evidence.json, report.md."""
    spent = elapsed(state["run_dir"], state["elapsed_ms"])
    winner, verdict = state.get("incumbent"), state.get("confirmation")
    files = write_artefacts(
        state["run_dir"],
        settings=state["settings"],
        problem=state["problem"],
        workload=state["workload"],
        device=state["device"],
        baseline=state["baseline"],
        incumbent=winner.model_copy(update={"evaluation": verdict}) if winner else None,
        ledger=ledger_of(state),
        attempts=state.get("attempts", ()),
        usage=state.get("usage", Usage()),
        outcome=state["outcome"],
        elapsed_ms=spent,
        models=ExchangeLog(state["run_dir"]).models(),
        prices=_prices(state["settings"], asked_instead(state["settings"], config)),
        counted=how(),
    )
    return RunState(outcome=state["outcome"].model_copy(update={"files": files}), elapsed_ms=spent)


def _settled(state: RunState, line: Decision) -> RunState:
    """The line in force, or put before a person."""
    return RunState(decided=line) if state["settings"].pause.on_decisions else RunState(ledger=(line,))


def _why_none(state: RunState) -> str:
    """Why there is no kernel to confirm."""
    if any(line.verb is Verb.REFUSED for line in ledger_of(state)):
        return "a person refused what passed the judge"
    return "no kernel passed the judge" if state.get("attempts") else "no kernel was written"


def _prices(*all_settings: Settings) -> tuple[Price, ...]:
    """Of the models that could be asked, at first and after a resume with another."""
    backbones = dict.fromkeys(settings.backbone(role) for settings in all_settings for role in ROLES)
    return tuple(dict.fromkeys(price for backbone in backbones if (price := price_of(backbone))))


def _own_folder(thread: str | None, stem: str) -> Path:
    """The thread's folder, the same one if intake is repeated; a new one without a thread or beside a finished run."""
    folder = runs_dir() / str(thread) if thread else None
    return folder if folder and not (folder / "evidence.json").exists() else fresh_run_dir(str(thread or stem))


def _claim(state: RunState, incumbent: Candidate, verdict: Evaluation) -> Outcome:
    if not verdict.ok:
        failed = f"the winner failed confirmation ({verdict.status})"
        return fallback(state, f"{failed}; the result is the reference module")
    if verdict.timing is None:
        return _outcome(state, incumbent, verdict, "correct in Triton's interpreter; no GPU here, so nothing was timed")
    eager = next((s for s in verdict.speedups if s.baseline == "eager"), None)
    policy = state["settings"].policy
    if eager is None or not eager.proven:
        return fallback(state, f"correct, but not proven faster than eager under policy {policy}; the reference stays")
    times = ", ".join(f"{s.ratio:.2f}x {s.baseline} [{s.low:.2f}, {s.high:.2f}]" for s in verdict.speedups)
    return _outcome(state, incumbent, verdict, f"correct and faster under policy {policy}: {times}")


def _outcome(state: RunState, incumbent: Candidate, verdict: Evaluation, claim: str) -> Outcome:
    return Outcome(
        kernel=incumbent.id,
        correct=True,
        measured=verdict.timing is not None,
        proven_faster=any(s.baseline == "eager" and s.proven for s in verdict.speedups),
        speedups=verdict.speedups,
        claim=claim,
        torch_regions=left_to_torch(state["workload"], incumbent, verdict),
    )


def left_to_torch(workload: Workload, incumbent: Candidate, verdict: Evaluation) -> tuple[str, ...]:
    """What stays PyTorch: regions that the library has no kind for or gave back; of a model's own kernel, operators."""
    if (spec := spec_of(incumbent.source)) is None:
        return tuple(op for op in verdict.profile.torch_ops if computes(op)) if verdict.profile else ()
    without = (region.name for region in workload.regions if region.kind == TORCH)
    given_back = (region.name for region in spec.regions if region.in_torch)
    return tuple(dict.fromkeys((*without, *given_back)))


def fallback(state: RunState, claim: str) -> Outcome:
    """The reference module as the result."""
    return Outcome(
        kernel=None,
        correct=True,
        measured=state["device"].present,
        proven_faster=False,
        claim=claim,
        torch_regions=tuple(region.name for region in state["workload"].regions),
    )


def _evidence(candidate: Candidate | None, verdict: Evaluation | None) -> str:
    if candidate is None or verdict is None:
        return "nothing to confirm"
    if not verdict.ok:
        return first_line(verdict.feedback) or verdict.status
    worst = max(verdict.accuracy, key=lambda accuracy: accuracy.used, default=None)
    error = f"; largest error {worst.error:.2g} of a budget of {worst.budget:.2g} ({worst.case})" if worst else ""
    return f"{milliseconds(candidate)}{error}"


def _decision(
    step: int, stage: str, verb: Verb, what: str, why: str, evidence: str, kernel: Candidate | None
) -> Decision:
    return Decision(
        step=step, stage=stage, verb=verb, what=what, why=why, evidence=evidence, kernel=kernel.id if kernel else None
    )
