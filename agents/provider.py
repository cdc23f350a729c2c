"""One model call: the only place where a transient provider fault is retried."""

from collections.abc import Callable, Sequence
from time import perf_counter

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import BaseTool
from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt, stop_before_delay
from tenacity.wait import wait_exponential_jitter

from egg.agents.billing import Request
from egg.agents.faults import CutOff, ProviderFault, explain, in_short, response_of, transient
from egg.state.backbone import Backbone
from egg.state.usage import Spend

ATTEMPTS = 5
LONGEST = 900.0
"""Seconds after which no further attempt is begun."""
LONGEST_WAIT = 60.0
"""Seconds; also the most that a server's `Retry-After` is obeyed."""

_backoff = wait_exponential_jitter(multiplier=0.5, max=LONGEST_WAIT, jitter=0.5)


def ask(
    model: Runnable[LanguageModelInput, AIMessage],
    messages: Sequence[BaseMessage],
    backbone: Backbone,
    config: RunnableConfig | None = None,
    tell: Callable[[str], None] = lambda text: None,
    seconds: float = LONGEST,
    tools: Sequence[BaseTool] = (),
) -> tuple[AIMessage, Spend]:
    """The model's answer and its bill. `tell` hears of every wait; none goes on after `seconds`.

    `tools` are those that the model is bound to. A `ProviderFault` carries the bill of all attempts.

    Raises:
        UserError: for a fault that only the user can mend: key, endpoint, model name, options, account.
        ProviderFault: for any other fault that is still there after the retries.
    """

    def say(state: RetryCallState) -> None:
        fault = state.outcome.exception() if state.outcome else None
        seconds = state.next_action.sleep if state.next_action else 0.0
        what = in_short(fault) if fault else "no answer"
        tell(f"{what} from the model provider; asks again in {seconds:.0f} s ({state.attempt_number} of {ATTEMPTS})")

    request = Request(messages, tools, backbone)
    retrying = Retrying(
        stop=stop_after_attempt(ATTEMPTS) | stop_before_delay(min(seconds, LONGEST)),
        wait=_wait,
        retry=retry_if_exception(transient),
        before_sleep=say,
        reraise=True,
    )
    try:
        for attempt in retrying:
            with attempt:
                begun = perf_counter()
                try:
                    answer = _whole(model.invoke(messages, config))
                except Exception as fault:
                    request.fails(fault)
                    raise
                return answer, request.succeeds(answer, perf_counter() - begun)
    except Exception as fault:  # provider clients share no base class
        known = explain(fault, backbone)
        if known is None:
            raise
        if isinstance(known, ProviderFault):
            known.spend = request.given_up()
        elif unsure := request.failed.unsure:  # the run ends here, and no bill is kept of it
            known.args = (f"{known} ({unsure} request{'s' * (unsure > 1)} without an answer may be billed)",)
        raise known from fault
    raise AssertionError("tenacity either returns or raises")


def refusal(answer: AIMessage) -> str | None:
    """Why the model declines, if it does."""
    said = answer.additional_kwargs.get("refusal")
    blocks = answer.content if isinstance(answer.content, list) else []
    said = said or next((b.get("refusal") for b in blocks if isinstance(b, dict) and b.get("type") == "refusal"), None)
    reason = answer.response_metadata.get("finish_reason") or answer.response_metadata.get("stop_reason")
    if said or reason in ("content_filter", "refusal"):
        return " ".join(str(said or answer.text or reason).split())[:200]
    return None


def at_its_limit(answer: AIMessage) -> bool:
    """Whether the answer ends where it does because it reached the cap on its length."""
    metadata = answer.response_metadata
    reason = metadata.get("finish_reason") or metadata.get("stop_reason") or metadata.get("done_reason")
    incomplete = metadata.get("incomplete_details")
    if isinstance(incomplete, dict):
        reason = incomplete.get("reason")
    return reason in ("length", "max_tokens", "max_output_tokens", "MAX_TOKENS")


def _whole(answer: AIMessage) -> AIMessage:
    """The answer, if it has an end: langchain-openai takes a stream that merely stops for a finished one.

    Raises:
        CutOff: it has none.
    """
    metadata = answer.response_metadata
    ends = ("finish_reason", "model_name", "status")
    if metadata.get("model_provider") == "openai" and not any(metadata.get(end) for end in ends):
        raise CutOff("the stream ended before the answer did")
    return answer


def _wait(state: RetryCallState) -> float:
    """What the server asks for, or else exponentially longer with jitter. Seconds."""
    response = response_of(state.outcome.exception() if state.outcome else None)
    asked = response.headers.get("retry-after") if response is not None else None
    try:
        return min(max(float(asked), 0.0), LONGEST_WAIT) if asked else _backoff(state)
    except ValueError:
        return _backoff(state)
