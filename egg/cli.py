"""The command `egg`."""

import os
import sys
from typing import Annotated, Any

import typer
from typer.exceptions import TyperException

from egg import __version__
from egg.state.errors import MachineError, UserError

INTERRUPTED = 130
"""What typer makes of Ctrl-C."""
LLM = "openai:gpt-5.1"
app = typer.Typer(
    help="Turn a PyTorch module into a proven Triton kernel.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
models = typer.Typer(help="Models and the servers behind them.", rich_markup_mode=None)
app.add_typer(models, name="models")
RunName = Annotated[str, typer.Argument(metavar="RUN", help="Id of a run, or its folder.")]
Model = Annotated[str | None, typer.Option(help="`rulebook`, `openai:NAME`, or `PROVIDER:NAME` of another provider.")]
BaseUrl = Annotated[str | None, typer.Option(help="Endpoint of an OpenAI-compatible server.")]
Protocol = Annotated[str | None, typer.Option(help="How the model calls tools: tools, or text without any.")]
Temperature = Annotated[float | None, typer.Option(help="Sampling temperature.")]
Effort = Annotated[str | None, typer.Option(help="Reasoning effort: low, medium, high, ...")]
MaxOutput = Annotated[int | None, typer.Option(help="Cap on the tokens of one answer.")]


def main() -> None:
    """Run the command; what the user can mend is one line and exit code 2."""
    try:
        code = app(sys.argv[1:] or ["--help"], prog_name="egg", standalone_mode=False)
    except TyperException as error:
        command = getattr(getattr(error, "ctx", None), "command_path", "egg")
        _fail(UserError(f"{getattr(error, 'format_message', error.__str__)()} See: {command} --help"), 2)
    except UserError as error:
        _fail(error, 2)
    except MachineError as error:
        _fail(error, 1)
    if code == INTERRUPTED:
        print("egg: stopped", file=sys.stderr)
    raise SystemExit(code)


def _fail(error: Exception, code: int) -> None:
    print(f"egg: {' '.join(str(error).split())}", file=sys.stderr)
    raise SystemExit(code)


@app.command()
def optimize(
    problem: Annotated[str, typer.Argument(metavar="PROBLEM", help="File with Model, get_inputs, get_init_inputs.")],
    model: Model = None,
    base_url: BaseUrl = None,
    protocol: Protocol = None,
    temperature: Temperature = None,
    effort: Effort = None,
    max_output: MaxOutput = None,
    role: Annotated[
        list[str] | None,
        typer.Option(metavar="ROLE.OPTION=VALUE", help="For one role, such as debug.model=openai:NAME; repeatable."),
    ] = None,
    seeds: Annotated[int, typer.Option(help="Seeds, each with another algorithmic structure.")] = 2,
    policy: Annotated[str, typer.Option(help="Precision of both sides: stock, ieee or tf32.")] = "stock",
    target: Annotated[str | None, typer.Option(help="GPU to compile for, such as sm_90; this machine's own.")] = None,
    max_calls: Annotated[int | None, typer.Option(help="Cap on model calls.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Cap on input plus output tokens.")] = None,
    max_usd: Annotated[float | None, typer.Option(help="Cap on money, by the price table.")] = None,
    max_gpu_minutes: Annotated[float | None, typer.Option(help="Cap on the time that the GPU is held.")] = None,
    max_minutes: Annotated[float | None, typer.Option(help="Cap on wall time.")] = None,
    search: Annotated[bool, typer.Option(help="Let a machine choose the numbers in the tuning stages.")] = True,
    max_points: Annotated[int | None, typer.Option(help="Cap on the points of one search.")] = None,
    pause: Annotated[str, typer.Option(help="Ask a person: never, before stages, on decisions, or both.")] = "never",
    run_dir: Annotated[str | None, typer.Option(help="Folder of the run; runs/ID by default.")] = None,
) -> None:
    """Find a faster kernel for PROBLEM, and prove it."""
    from egg.drive import start
    from egg.request import of_roles, validated
    from egg.results import print_result

    options: dict[str, Any] = {
        "model": model or _default_model(base_url),
        "base_url": base_url,
        "protocol": protocol,
        "temperature": temperature,
        "effort": effort,
        "max_output": max_output,
        "roles": of_roles(role or []),
        "seeds": seeds,
        "policy": policy,
        "target": target,
        "max_calls": max_calls,
        "max_tokens": max_tokens,
        "max_usd": max_usd,
        "max_gpu_minutes": max_gpu_minutes,
        "max_minutes": max_minutes,
        "search": search,
        "max_points": max_points,
        "pause": pause,
        "run_dir": run_dir,
    }
    print_result(start(validated(problem, {name: value for name, value in options.items() if value is not None})))


@app.command()
def resume(
    run: RunName,
    model: Annotated[str | None, typer.Option(help="Go on with another model; what was answered stays.")] = None,
    base_url: BaseUrl = None,
    protocol: Protocol = None,
    temperature: Temperature = None,
    effort: Effort = None,
    max_output: MaxOutput = None,
    answer: Annotated[
        list[str] | None,
        typer.Option(metavar="[STAGE=]ANSWER", help="To what the run asks; repeatable if it asks several things."),
    ] = None,
    no_pause: Annotated[bool, typer.Option("--no-pause", help="Ask nothing any more.")] = False,
) -> None:
    """Go on with an interrupted run, from the command or from the LangGraph server."""
    from egg.drive import resume as go_on
    from egg.request import other_backbone
    from egg.results import print_result

    options = {"base_url": base_url, "protocol": protocol, "temperature": temperature, "effort": effort}
    print_result(go_on(run, other_backbone(model, {**options, "max_output": max_output}), answer or (), no_pause))


@app.command()
def replay(
    run: RunName,
    any_prompt: Annotated[bool, typer.Option("--any-prompt", help="Replay answers though prompts are others.")] = False,
    run_dir: Annotated[
        str | None, typer.Option(help="Folder to keep the replay in; by default it is not kept.")
    ] = None,
) -> None:
    """Repeat a finished run from its recording, without a model or a GPU. Exit code 0 if the result is the same."""
    from egg.replaying import print_replay
    from egg.replaying import replay as again

    result = again(run, any_prompt=any_prompt, run_dir=run_dir)
    print_replay(result)
    raise typer.Exit(0 if result.same else 1)


@app.command()
def check(
    problem: Annotated[str, typer.Argument(metavar="PROBLEM", help="File with Model, get_inputs, get_init_inputs.")],
    kernel: Annotated[str, typer.Argument(metavar="KERNEL", help="File with ModelNew.")],
    policy: Annotated[str, typer.Option(help="Precision of both sides: stock, ieee or tf32.")] = "stock",
    target: Annotated[str | None, typer.Option(help="GPU to compile for, such as sm_90; this machine's own.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="As in a search: fewer inputs, one timing session.")] = False,
    json: Annotated[bool, typer.Option("--json", help="The whole verdict as JSON.")] = False,
) -> None:
    """Judge KERNEL, from anywhere, as an implementation of PROBLEM. Exit code 0 for `ok`, from 10 for what fails."""
    from egg.tools.judgement import judge_file
    from egg.verdict import exit_code, print_judgement

    judgement = judge_file(problem, kernel, policy=policy, target=target, quick=quick)
    print_judgement(judgement, as_json=json)
    raise typer.Exit(exit_code(judgement.evaluation.status))


@app.command()
def profile(
    problem: Annotated[str, typer.Argument(metavar="PROBLEM", help="File with Model, get_inputs, get_init_inputs.")],
    kernel: Annotated[str, typer.Argument(metavar="KERNEL", help="File with ModelNew.")],
    policy: Annotated[str, typer.Option(help="Precision: stock, ieee or tf32.")] = "stock",
    target: Annotated[str | None, typer.Option(help="GPU to compile for, such as sm_90; this machine's own.")] = None,
    counters: Annotated[bool, typer.Option(help="Read hardware counters where this user may.")] = True,
    json: Annotated[bool, typer.Option("--json", help="The whole profile as JSON.")] = False,
    plot: Annotated[str | None, typer.Option(metavar="FILE", help="The roofline as a picture: .svg, .png.")] = None,
) -> None:
    """Say where the time of KERNEL's forward pass goes, what holds it back, and how near the ceiling it is."""
    from egg.profiling import print_profile
    from egg.tools.profiling import profile_file

    profiled = profile_file(problem, kernel, policy=policy, target=target, counters=counters)
    print_profile(profiled, as_json=json)
    if plot:
        from egg.tools.picture import save_roofline

        save_roofline(profiled, plot)


@app.command()
def tune(
    problem: Annotated[str, typer.Argument(metavar="PROBLEM", help="File with Model, get_inputs, get_init_inputs.")],
    kernel: Annotated[str, typer.Argument(metavar="KERNEL", help="File with ModelNew, right already.")],
    space: Annotated[str | None, typer.Option(metavar="FILE", help="JSON: {name: [values]}; read off KERNEL.")] = None,
    out: Annotated[str | None, typer.Option(metavar="FILE", help="Write the kernel with its best numbers.")] = None,
    policy: Annotated[str, typer.Option(help="Precision: stock, ieee or tf32.")] = "stock",
    target: Annotated[str | None, typer.Option(help="GPU to compile for, such as sm_90; this machine's own.")] = None,
    max_points: Annotated[int | None, typer.Option(min=1, help="Points to compile; 48 with a GPU, 12 without.")] = None,
    max_seconds: Annotated[float, typer.Option(min=1, help="Wall time of the search.")] = 60.0,
    json: Annotated[bool, typer.Option("--json", help="Every point and its outcome as JSON.")] = False,
) -> None:
    """Search KERNEL's numbers by machine, without a model: block sizes, warps, stages, autotune configurations."""
    from egg.state.search import SearchLimits
    from egg.tools.tune.file import tune_file
    from egg.tuning import print_tuned, write_kernel

    limits = SearchLimits(points=max_points, seconds=max_seconds)
    tuned = tune_file(problem, kernel, policy=policy, target=target, space_file=space, limits=limits)
    print_tuned(tuned, as_json=json)
    if out:
        write_kernel(tuned, out, quiet=json)


@app.command()
def doctor(json: Annotated[bool, typer.Option("--json", help="As a JSON list.")] = False) -> None:
    """Say what this machine can do, and what to do about what is missing. Exit code 1 if EGG cannot work here."""
    from egg.doctor import print_findings
    from egg.tools.doctor import examine

    findings = examine()
    print_findings(findings, as_json=json)
    raise typer.Exit(1 if any(finding.state == "missing" for finding in findings) else 0)


@models.command("check")
def check_model(
    model: Model = None,
    base_url: BaseUrl = None,
    protocol: Protocol = None,
    json: Annotated[bool, typer.Option("--json", help="As a JSON list.")] = False,
) -> None:
    """Try what EGG asks of a model, one call for each thing. Exit code 1 if it cannot call tools in any way."""
    from egg.agents.examine import examine_model
    from egg.doctor import print_findings
    from egg.request import settings_with

    chosen = model or _default_model(base_url)
    findings = examine_model(settings_with({"model": chosen, "base_url": base_url, "protocol": protocol}))
    print_findings(findings, as_json=json)
    raise typer.Exit(1 if any(finding.state == "missing" for finding in findings) else 0)


@models.command("prices")
def model_prices(json: Annotated[bool, typer.Option("--json", help="As a JSON list.")] = False) -> None:
    """Print the price table in force, and where to put prices of one's own."""
    from egg.agents.prices import own_table, prices
    from egg.pricing import print_prices

    print_prices(prices(), own_table(), as_json=json)


@app.command()
def runs() -> None:
    """List the runs under runs/ (or EGG_RUNS_DIR)."""
    from egg.results import list_runs

    list_runs()


@app.command()
def show(run: RunName) -> None:
    """Show a run: its ledger, its claim, its files."""
    from egg.results import show as show_run

    show_run(run)


@app.command()
def graph() -> None:
    """Print the state machine as Mermaid text: the run, then the stage that every seed and tuning step is."""
    from egg.graph.app import graph as machine
    from egg.graph.stage import build_stage

    print(machine.get_graph().draw_mermaid())
    print(build_stage().get_graph(xray=True).draw_mermaid(), end="")


@app.command()
def version() -> None:
    """Print the version."""
    print(__version__)


def _default_model(base_url: str | None) -> str:
    """An LLM where a key is set, else the rulebook; says which, and why."""
    if base_url:
        raise UserError("--base-url needs --model openai:NAME, the name that the server knows the model by")
    if os.environ.get("OPENAI_API_KEY"):
        print(f"Model {LLM}, as OPENAI_API_KEY is set (--model rulebook needs no key).", file=sys.stderr)
        return LLM
    print("Model rulebook, the built-in expert, as OPENAI_API_KEY is not set.", file=sys.stderr)
    return "rulebook"
