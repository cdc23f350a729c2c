"""Printing a verdict, and the exit code that stands for it."""

import sys
from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from egg.results import console
from egg.state.evaluation import Evaluation, Speedup
from egg.state.judgement import Judgement
from egg.state.status import Status
from egg.tools.report import milliseconds

FIRST_CODE = 10
"""`ok` is 0; the other statuses follow from here in their order. 1 and 2 are the machine's and the user's faults."""


def exit_code(status: Status) -> int:
    """0 for `ok`, else a code of the status's own."""
    return 0 if status is Status.OK else FIRST_CODE + list(Status).index(status) - 1


def print_judgement(judgement: Judgement, *, as_json: bool) -> None:
    """The verdict as a table, or as one JSON value on stdout."""
    if as_json:
        sys.stdout.write(judgement.model_dump_json(indent=2) + "\n")
        return
    evaluation = judgement.evaluation
    style = "bold green" if evaluation.ok else "bold red"
    console.print(Text(f"{evaluation.status}", style=style), Text(f"{judgement.kernel} for {judgement.problem}"))
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, told in rows(judgement):
        table.add_row(name, Text(told))
    console.print(table)


def rows(judgement: Judgement) -> Iterator[tuple[str, str]]:
    """What the table says, line by line."""
    evaluation, device = judgement.evaluation, judgement.device
    if evaluation.feedback:
        yield ("Why" if not evaluation.ok else "Note"), evaluation.feedback
    yield "Policy", judgement.policy.value
    yield "Machine", device.name if device.present else f"no GPU: interpreter, compiled for {device.name}"
    if judgement.sizes:
        yield "Sizes", "small: " + ", ".join(f"{name} = {size}" for name, size in judgement.sizes.items())
    yield from _correctness(evaluation)
    if evaluation.ownership:
        yield "Whose work", evaluation.ownership.told()
    yield from _speed(judgement)
    if evaluation.conditions:
        yield from evaluation.conditions.told()
    if evaluation.stock:
        yield "KernelBench", evaluation.stock.told()
    if evaluation.isolation:
        yield "Isolation", evaluation.isolation.told()
    for reason in judgement.degenerate:
        yield "Poor test", reason


def _correctness(evaluation: Evaluation) -> Iterator[tuple[str, str]]:
    if worst := max(evaluation.accuracy, key=lambda accuracy: accuracy.used, default=None):
        same: dict[bool | None, str] = {True: "; repeats agree bit for bit", False: "; repeats differ in last bits"}
        told = f"{len(evaluation.accuracy)} outputs; closest to its budget: {worst.error:.2g} of {worst.budget:.2g}"
        yield "Accuracy", f"{told} ({worst.case}){same.get(evaluation.deterministic, '')}"
    for held in evaluation.held_out:
        sizes = ", ".join(f"{name} = {size}" for name, size in held.sizes.items()) or "the problem's own sizes"
        ended = held.status.value if held.status else "the reference cannot be run so"
        yield "Held out", f"{held.why} ({sizes}): {ended}{f': {held.feedback}' if held.feedback else ''}"


def _claim(evaluation: Evaluation, speedup: Speedup) -> str:
    """Processes differ from one another, so that an interval from a single one proves nothing."""
    if not speedup.proven:
        return "not proven faster"
    once = evaluation.conditions is not None and evaluation.conditions.sessions == 1
    return "faster in one session, which proves nothing yet" if once else "faster"


def _speed(judgement: Judgement) -> Iterator[tuple[str, str]]:
    evaluation = judgement.evaluation
    if timing := evaluation.timing:
        spread = f"{milliseconds(timing.p20_ms)} to {milliseconds(timing.p80_ms)}"
        yield "Time", f"{milliseconds(timing.median_ms)} ({spread}, {timing.samples} samples)"
        for speedup in evaluation.speedups:
            interval = f"{speedup.ratio:.2f}x [{speedup.low:.2f}, {speedup.high:.2f}]"
            yield f"vs {speedup.baseline}", f"{interval}: {_claim(evaluation, speedup)}"
    elif profile := evaluation.profile:
        yield "Estimate", f"{milliseconds(profile.estimate_ms)} on {profile.target}; nothing was timed"
    yield "Roofline", f"{milliseconds(judgement.roofline_ms)} ({judgement.bound} bound)"
