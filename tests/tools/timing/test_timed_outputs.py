"""What was timed must have been done: outputs of timed calls, for inputs that never come twice."""

import pytest

from egg.state.evaluation import Status
from egg.tools.errors import CandidateError
from egg.tools.timing import measure as timing
from egg.tools.timing.interleave import Plan, Taken, sessions
from egg.tools.timing.sides import Side
from tests.tools.timed import candidate, job, problem

BRIEF = Plan(rounds=3, outputs=4)
SIDES = {timing.EAGER: Side()}

CHEATS = {
    "cache by address": """
key = x.data_ptr()
if key not in self.kept:
    self.kept[key] = self.honest(x)
return self.kept[key]""",
    "cache by some elements": """
key = (x.data_ptr(), float(x[0, 0]), float(x[-1, -1]), float(x[7, 7]))
if key not in self.kept:
    self.kept[key] = self.honest(x)
return self.kept[key]""",
    "honest for the first calls": """
self.calls += 1
if self.calls < 30:
    self.kept[0] = self.honest(x)
return self.kept[0]""",
    "one call does the work of four": """
self.kept[x.data_ptr()] = x
self.calls += 1
if self.calls % 4 == 0 or self.calls < 8:
    self.done = {key: self.honest(kept) for key, kept in self.kept.items()}
return self.done[x.data_ptr()]""",
    "a graph that reads old inputs": """
if not self.kept:
    self.kept[0] = x.clone()
return self.honest(self.kept[0])""",
    "nothing at all": "return torch.empty(x.shape[0], x.shape[1])",
}

HONEST = {
    "another order of sums": "return self.honest(x)",
    "random rounding": "return self.honest(x) * (1 + 1e-6 * torch.rand(x.shape))",
    "one output buffer for all calls": """
if not self.kept:
    self.kept[0] = torch.empty_like(x)
return self.kept[0].copy_(self.honest(x))""",
    "a cache of whole contents, which is of no use": """
key = x.numpy().tobytes()
if key not in self.kept:
    self.kept[key] = self.honest(x)
return self.kept[key]""",
}


def timed(source: str) -> Taken:
    return sessions(job(), {**SIDES, timing.CANDIDATE: Side(source=source)}, BRIEF)


@pytest.mark.parametrize("forward", CHEATS.values(), ids=CHEATS.keys())
def test_a_call_whose_work_was_not_done_is_found(forward: str) -> None:
    with pytest.raises(CandidateError, match="timed call gave a wrong output") as raised:
        timed(candidate(forward))
    assert raised.value.status is Status.CHEAT


@pytest.mark.parametrize("forward", HONEST.values(), ids=HONEST.keys())
def test_honest_kernels_pass(forward: str) -> None:
    found = timed(candidate(forward)).outputs
    assert (found.checked, found.telling, found.note) == (4, 4, "")
    assert found.of >= 6 * 1


def test_an_error_that_could_be_rounding_is_no_cheat() -> None:
    with pytest.raises(CandidateError, match="timed call gave a wrong output") as raised:
        timed(candidate("return self.honest(x) * (1 + 2e-5)"))
    assert raised.value.status is Status.MISMATCH


@pytest.mark.parametrize(
    ("forward", "said"),
    [
        ("return torch.dropout(self.fc(x), 0.5, True)", "random"),
        ("return self.fc(x.mul_(0.5))", "changes its inputs"),
    ],
)
def test_where_the_reference_cannot_tell_it_is_said(forward: str, said: str) -> None:
    source = candidate(forward)
    sides = {**SIDES, timing.CANDIDATE: Side(source=source)}
    found = sessions(job(problem(forward)), sides, BRIEF).outputs
    assert found.checked == 0 and said in found.note


def test_indices_are_drawn_anew() -> None:
    forward, inputs = "return self.fc(torch.ones(x.shape[0], 96) * x[:, :1])", "torch.randint(0, 9, (rows, columns))"
    stale = candidate("if not self.kept:\n    self.kept[0] = self.work(x)\nreturn self.kept[0]")
    stale += f"\n    def work(self, x):\n        {forward}\n"
    with pytest.raises(CandidateError, match="wrong output"):
        sessions(job(problem(forward, inputs)), {**SIDES, timing.CANDIDATE: Side(source=stale)}, BRIEF)


def test_forged_times_do_not_add_up_to_our_own_clock() -> None:
    patch = "import time\nimport egg.tools.tasks.clocks as clocks\n"
    patch += "def sample(self, call, *, apart):\n    call()\n    return 0.001, 0.001\n"
    patch += "clocks.CpuClock.sample.__code__ = sample.__code__\n"  # by a way that leaves no other object behind
    source = candidate("time.sleep(0.005)\nreturn self.honest(x)", patch)
    taken = timed(source)
    with pytest.raises(CandidateError, match="by our own clock") as raised:
        timing.conclude(job(), taken, timing.Floors())
    assert raised.value.status is Status.CHEAT


@pytest.mark.parametrize(
    ("patch", "name"),
    [
        ("clocks.CpuClock.sample = lambda self, call, *, apart: (call(), (0.001, 0.001))[1]", "CpuClock.sample"),
        ("clocks.perf_counter = lambda: 1.0", "perf_counter"),
        ("inputs.InputSets.next = lambda self: self.sets[0].inputs", "InputSets.next"),
    ],
)
def test_replacing_the_timers_own_parts_is_seen(patch: str, name: str) -> None:
    head = f"import egg.tools.tasks.clocks as clocks\nimport egg.tools.tasks.inputs as inputs\n{patch}"
    with pytest.raises(CandidateError, match=f"replaces .*{name}") as raised:
        timed(candidate("return self.honest(x)", head))
    assert raised.value.status is Status.CHEAT
