"""A change that the code agent declines ends its stage like one that was not worth a plan."""

from egg.graph.decide import decision
from egg.graph.routes import after_code
from egg.state.ledger import Verb
from egg.state.plan import Plan
from tests.graph.make import stage_state


def test_a_declined_change_leaves_the_kernel_and_says_why():
    plan = Plan(worth_it=False, why="the change spills 512 bytes")
    state = stage_state(draft=None, plan=plan, stopped=None, attempts=(), ledger=())
    assert after_code(state) == "settle"
    line = decision(state)
    assert (line.verb, line.why, line.kernel) == (Verb.SKIPPED, plan.why, state["incumbent"].id)
