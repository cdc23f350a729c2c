"""One model call: the only place where a transient provider fault is retried."""

from collections.abc import Sequence
from time import perf_counter

from langchain_core.exceptions import (
    ContextOverflowError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelError,
    ModelNotFoundError,
    ModelPermissionDeniedError,
)
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.runnables import Runnable, RunnableConfig
from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt, stop_after_delay
from tenacity.wait import wait_exponential_jitter

from egg.state.errors import UserError
from egg.state.settings import Settings
from egg.state.usage import Spend

ATTEMPTS = 5
LONGEST = 900.0
"""Seconds after which no further attempt is begun."""
LONGEST_WAIT = 60.0
"""Seconds; also the most that a server's `Retry-After` is obeyed."""

_backoff = wait_exponential_jitter(multiplier=0.5, max=LONGEST_WAIT, jitter=0.5)


class ProviderFault(Exception):
    """The provider failed and kept failing, or refused this one request. It says nothing about a kernel."""


def ask(
    model: Runnable[LanguageModelInput, AIMessage],
    messages: Sequence[BaseMessage],
    settings: Settings,
    config: RunnableConfig | None = None,
) -> tuple[AIMessage, Spend]:
    """The model's answer and its bill.

    Raises:
        UserError: for a fault that only the user can mend: key, endpoint, model name, account.
        ProviderFault: for any other fault that is still there after the retries.
    """
    retrying = Retrying(
        stop=stop_after_attempt(ATTEMPTS) | stop_after_delay(LONGEST),
        wait=_wait,
        retry=retry_if_exception(transient),
        reraise=True,
    )
    try:
        for attempt in retrying:
            with attempt:
                begun = perf_counter()
                answer = model.invoke(messages, config)
                return answer, _spend(messages, answer, perf_counter() - begun, settings)
    except Exception as fault:  # provider clients share no base class
        known = explain(fault, settings)
        if known is None:
            raise
        raise known from fault
    raise AssertionError("tenacity either returns or raises")


def transient(fault: BaseException) -> bool:
    """Whether the same request may succeed if it is sent again."""
    if _code(fault) in ("insufficient_quota", "billing_hard_limit_reached"):
        return False
    return (isinstance(fault, ModelError) and fault.is_retryable) or _cut_off(fault)


def explain(fault: Exception, settings: Settings) -> UserError | ProviderFault | None:
    """The fault as something to tell the user or as the end of a stage; None if it is no provider's fault."""
    name = settings.model.partition(":")[2]
    where = settings.base_url or "api.openai.com"
    if isinstance(fault, (ModelAuthenticationError, ModelPermissionDeniedError)):
        return UserError(f"{where} refused the key: set OPENAI_API_KEY to one that may use {name}")
    if isinstance(fault, ModelNotFoundError):
        return UserError(f"{where} does not know {name}: check --model, and --base-url (it usually ends in /v1)")
    if isinstance(fault, ModelConnectionError):
        return UserError(f"cannot reach {where}: check --base-url and the network")
    if _code(fault) in ("insufficient_quota", "billing_hard_limit_reached"):
        return UserError(f"the account at {where} has no credit left: add some, or use another OPENAI_API_KEY")
    if isinstance(fault, TypeError) and "choices" in str(fault):
        return UserError(f"{where} answers, but not as OpenAI does: check --base-url (it usually ends in /v1)")
    if isinstance(fault, ContextOverflowError):
        return ProviderFault(f"the conversation is longer than {name} can read")
    if isinstance(fault, ModelError) or _cut_off(fault) or _from_client(fault):
        return ProviderFault(f"{type(fault).__name__}: {' '.join(str(fault).split())[:200]}")
    return None


def _wait(state: RetryCallState) -> float:
    """What the server asks for, or else exponentially longer with jitter. Seconds."""
    fault = state.outcome.exception() if state.outcome else None
    response = getattr(fault, "response", None)
    asked = response.headers.get("retry-after") if response is not None else None
    try:
        return min(float(asked), LONGEST_WAIT) if asked else _backoff(state)
    except ValueError:
        return _backoff(state)


def _code(fault: BaseException) -> str | None:
    code: str | None = getattr(fault, "code", None)
    return code


def _cut_off(fault: BaseException) -> bool:
    """A stream or body that broke off: raised by the HTTP client, beneath LangChain's error classes."""
    if type(fault).__module__.partition(".")[0] in ("httpx", "httpx2", "httpcore", "httpcore2"):
        return True
    return type(fault).__name__ == "JSONDecodeError" or (
        _from_client(fault) and getattr(fault, "status_code", None) is None
    )


def _from_client(fault: BaseException) -> bool:
    """Whether the OpenAI client raised it."""
    return any(base.__module__.partition(".")[0] == "openai" for base in type(fault).__mro__)


def _spend(messages: Sequence[BaseMessage], answer: AIMessage, seconds: float, settings: Settings) -> Spend:
    """The bill. Servers that do not count tokens are counted for, so that the cap on tokens always means something."""
    used = answer.usage_metadata
    free = settings.model == "rulebook"
    return Spend(
        calls=1,
        input_tokens=used["input_tokens"] if used else 0 if free else count_tokens_approximately(messages),
        output_tokens=used["output_tokens"] if used else 0 if free else count_tokens_approximately([answer]),
        model_ms=round(seconds * 1000),
    )
