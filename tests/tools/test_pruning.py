"""What a run without pruning would have sent."""

from egg.state.ledger import Decision, Verb
from egg.state.usage import Spend, Usage
from egg.tools.pruning import pruning

STEPS = {"seed-1": 1, "seed-2": 1, "seed-expert": 1, "choose": 2, "mapping": 3, "tiling": 4}
LEDGER = tuple(
    Decision(step=step, stage=stage, verb=Verb.KEPT, what="w", why="y", evidence="e") for stage, step in STEPS.items()
)


def usage(**by_stage: Spend) -> Usage:
    return Usage(by_agent={f"{stage.replace('_', '-')}/code": spend for stage, spend in by_stage.items()})


def test_later_stages_would_carry_all_seeds_and_seeds_would_not_carry_each_other() -> None:
    seeds = {
        "seed_1": Spend(calls=2, sent_tokens=100, own_tokens=60),
        "seed_2": Spend(calls=1, sent_tokens=50, own_tokens=30),
    }
    later = {
        "mapping": Spend(calls=2, sent_tokens=80, own_tokens=10),
        "tiling": Spend(calls=1, sent_tokens=40, own_tokens=5),
    }
    found = pruning(usage(**seeds, **later), LEDGER, "counted")
    assert {stage.stage: (stage.sent, stage.unpruned) for stage in found.stages} == {
        "seed-1": (100, 100),
        "seed-2": (50, 50),
        "mapping": (80, 80 + 2 * 90),
        "tiling": (40, 40 + 90 + 10),
    }
    assert [stage.stage for stage in found.stages] == ["seed-1", "seed-2", "mapping", "tiling"]
    assert (found.sent, found.unpruned, found.how) == (270, 550, "counted")


def test_the_experts_own_seed_is_no_part_of_a_models_context() -> None:
    model = Spend(calls=1, sent_tokens=10, own_tokens=5)
    expert = Spend(calls=3, free=3, sent_tokens=90, own_tokens=80)
    with_model = pruning(usage(seed_1=model, seed_expert=expert, mapping=model), LEDGER, "counted")
    assert [(stage.stage, stage.unpruned) for stage in with_model.stages] == [("seed-1", 10), ("mapping", 15)]
    rulebook = pruning(usage(seed_1=expert, mapping=expert), LEDGER, "counted")
    assert [stage.unpruned for stage in rulebook.stages] == [90, 90 + 3 * 80], "what a model would have been sent"


def test_what_the_provider_counted_sets_the_scale() -> None:
    told = Spend(calls=1, sent_tokens=100, own_tokens=50, input_tokens=150)
    found = pruning(usage(seed_1=told, mapping=told), LEDGER, "counted")
    assert [(stage.sent, stage.unpruned) for stage in found.stages] == [(150, 150), (150, 225)]
    assert found.how == "counted, scaled to what the provider counted"
    untold = told.model_copy(update={"untold": 1})
    assert pruning(usage(seed_1=untold), LEDGER, "counted").stages[0].sent == 100
