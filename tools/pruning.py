"""How much smaller pruning at the stages' boundaries makes the context."""

from collections.abc import Iterable, Sequence

from egg.state.context import Pruning, StageContext
from egg.state.ledger import Decision
from egg.state.usage import Spend, Usage


def pruning(usage: Usage, ledger: Sequence[Decision], how: str) -> Pruning:
    """Tokens sent by each stage, and by the same requests with the messages of all earlier stages before them.

    Seeds run side by side, so that none carries another's messages; later stages would carry all of them. System
    prompts and tools are not carried, the expert's own seed is not if a model was asked, and within a stage nothing is
    added: each agent's conversation is counted as it was. `how` says how tokens were counted; where the provider
    counted too, its counts set the scale.
    """
    steps = {decision.stage: decision.step for decision in ledger}
    by_stage: dict[str, Spend] = {}
    asked = usage.total.calls > usage.total.free
    for name, spend in usage.by_agent.items():
        stage = name.rpartition("/")[0]
        if stage in steps and not (asked and spend.calls == spend.free):
            by_stage[stage] = by_stage.get(stage, Spend()) + spend
    scale = _scale(by_stage.values())
    stages = []
    for stage in sorted(by_stage, key=lambda stage: (steps[stage], stage)):
        spend = by_stage[stage]
        carried = sum(other.own_tokens for name, other in by_stage.items() if steps[name] < steps[stage])
        unpruned = spend.sent_tokens + spend.calls * carried
        if spend.sent_tokens:
            told = {"sent": round(spend.sent_tokens * scale), "unpruned": round(unpruned * scale)}
            stages.append(StageContext(stage=stage, calls=spend.calls, **told))
    return Pruning(stages=tuple(stages), how=how if scale == 1.0 else f"{how}, scaled to what the provider counted")


def _scale(spends: Iterable[Spend]) -> float:
    """The provider's tokens for each of ours."""
    told = [spend for spend in spends if spend.input_tokens and spend.sent_tokens and not spend.untold]
    return sum(s.input_tokens for s in told) / sum(s.sent_tokens for s in told) if told else 1.0
