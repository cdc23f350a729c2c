"""The bill of one answer, and of the requests that got none."""

from collections.abc import Sequence
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import BaseTool

from egg.agents.faults import may_be_billed
from egg.agents.prices import price_of
from egg.agents.tokens import counted
from egg.state.backbone import Backbone
from egg.state.usage import Spend


class Request:
    """One request, as it is sent, for whoever reckons up what came of it."""

    def __init__(self, messages: Sequence[BaseMessage], tools: Sequence[BaseTool], backbone: Backbone) -> None:
        self.messages, self.tools, self.backbone = messages, tools, backbone
        self.failed = Spend()
        """What its attempts without an answer may have cost so far."""

    def fails(self, fault: BaseException) -> None:
        """Reckon up an attempt without an answer. Nobody says what it cost: its input is counted, its output is not."""
        unsure = not self.backbone.is_rulebook and may_be_billed(fault)
        tokens = counted(self.messages, self.tools, None).sent if unsure else 0
        price = price_of(self.backbone) if unsure else None
        money = price.nano_usd(tokens) if price else 0
        self.failed += Spend(failed=1, unsure=int(unsure), unsure_tokens=tokens, unsure_nano_usd=money)

    def succeeds(self, answer: AIMessage, seconds: float) -> Spend:
        """The bill, failed attempts included. Servers that do not count tokens are counted for, so that caps hold."""
        sent, own = counted(self.messages, self.tools, answer)
        spend = self.failed + Spend(
            calls=1, retries=self.failed.failed, sent_tokens=sent, own_tokens=own, model_ms=round(seconds * 1000)
        )
        return spend + (Spend(free=1) if self.backbone.is_rulebook else self._priced(answer, sent))

    def given_up(self) -> Spend:
        """The bill of nothing but failed attempts."""
        return self.failed + Spend(retries=max(0, self.failed.failed - 1))

    def _priced(self, answer: AIMessage, sent: int) -> Spend:
        told = answer.usage_metadata
        taken = told["input_tokens"] if told else sent
        given = told["output_tokens"] if told else counted([], (), answer).own
        cached, written = _cached(answer)
        price = price_of(self.backbone)
        return Spend(
            input_tokens=taken,
            cached_tokens=cached,
            written_tokens=written,
            output_tokens=given,
            reasoning_tokens=_details(answer, "output").get("reasoning") or 0,
            untold=0 if told else 1,
            nano_usd=price.nano_usd(taken, cached, written, given) if price else 0,
            priced=1 if price else 0,
        )


def _cached(answer: AIMessage) -> tuple[int, int]:
    """Input tokens read from the provider's cache, and written into it. DeepSeek has its own name for the first."""
    details = _details(answer, "input")
    also = (answer.response_metadata.get("token_usage") or {}).get("prompt_cache_hit_tokens")
    return details.get("cache_read") or also or 0, details.get("cache_creation") or 0


def _details(answer: AIMessage, side: Literal["input", "output"]) -> dict[str, Any]:
    told: dict[str, Any] = dict(answer.usage_metadata or {})
    return told.get(f"{side}_token_details") or {}
