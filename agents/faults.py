"""What a provider's fault means: ask again, tell the user, or end the stage. Clients share no error classes."""

import re
from traceback import walk_tb
from typing import Any

from langchain_core.exceptions import (
    ContextOverflowError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelError,
    ModelInvalidRequestError,
    ModelNotFoundError,
    ModelPermissionDeniedError,
    ModelTimeoutError,
)

from egg.state.backbone import Backbone, Protocol
from egg.state.errors import UserError
from egg.state.usage import Spend
from egg.tools.redaction import redacted_text

NO_CREDIT = ("insufficient_quota", "billing_hard_limit_reached")
PASSING = (408, 409, 425, 429)
"""HTTP codes below 500 after which the same request may succeed."""
GATEWAY_TIMEOUTS = (408, 504)
"""HTTP codes that say nothing about what the model behind the gateway goes on doing."""
OVERFLOW = re.compile(r"context[ _-](length|window|size)|prompt is too long|too many (input )?tokens", re.IGNORECASE)
NO_TOOLS = re.compile(
    r"(does not|doesn't|not) support(ed)? (for )?(tool|function)|(tool|function)s? (use|calling|calls|choice)? ?"
    r"(is|are) not supported|tool-call-parser",
    re.IGNORECASE,
)
CLIENTS = ("httpx", "httpx2", "httpcore", "httpcore2", "openai")
OPTIONS = {
    "temperature": ("--temperature", ("temperature",)),
    "effort": ("--effort", ("reasoning_effort", "reasoning.effort", "reasoning", "effort", "thinking")),
    "max_output": ("--max-output", ("max_tokens", "max_completion_tokens", "max_output_tokens")),
}
"""The option of each sampling field, and what providers call the field."""


class ProviderFault(Exception):
    """The provider failed and kept failing, or refused this one request. It says nothing about a kernel."""

    spend = Spend()
    """The bill of the attempts."""


class Overflow(ProviderFault):
    """The conversation is longer than the model can read."""


class NoTools(UserError):
    """The model or its server calls no tools; the text protocol needs none."""


class CutOff(Exception):
    """A stream that ended in good order, but before the answer did."""


def transient(fault: BaseException) -> bool:
    """Whether the same request may succeed if it is sent again."""
    if not isinstance(fault, Exception):  # Ctrl-C, wherever it strikes
        return False
    code = _status(fault)
    if _code(fault) in NO_CREDIT or _speaks_otherwise(fault):
        return False
    if isinstance(fault, ModelError):
        return fault.is_retryable
    if code is not None:
        return code in PASSING or code >= 500
    return _cut_off(fault) or _unreadable(fault)


def explain(fault: Exception, backbone: Backbone) -> UserError | ProviderFault | None:
    """The fault as something to tell the user or as the end of a stage; None if it is no provider's fault."""
    where, name, text, status = whereabouts(backbone), backbone.name, _text(fault), _status(fault)
    if isinstance(fault, (ModelAuthenticationError, ModelPermissionDeniedError)) or status in (401, 403):
        return UserError(f"{where} refused the key: set {key_of(backbone)} to one that may use {name}")
    if isinstance(fault, ModelNotFoundError) or status == 404:
        return UserError(f"{where} does not know {name}: check --model, and --base-url (it usually ends in /v1)")
    if isinstance(fault, (ModelConnectionError, ConnectionError)) or type(fault).__name__ == "ConnectError":
        return UserError(f"cannot reach {where}: check --base-url and the network")
    if _code(fault) in NO_CREDIT:
        return UserError(f"the account at {where} has no credit left: add some, or use another {key_of(backbone)}")
    if _speaks_otherwise(fault):
        return UserError(f"{where} answers, but not as OpenAI does: check --base-url (it usually ends in /v1)")
    too_long = _code(fault) == "context_length_exceeded" or OVERFLOW.search(text)
    if isinstance(fault, ContextOverflowError) or (status in (400, 413, 422) and too_long):
        return Overflow(f"the conversation is longer than {name} can read")
    if isinstance(fault, ModelInvalidRequestError) or status in (400, 422):
        return _unwanted(fault, text, backbone) or ProviderFault(f"{where} refused the request: {text}")
    if isinstance(fault, ModelError) or status is not None or _cut_off(fault) or _unreadable(fault):
        return ProviderFault(f"{in_short(fault)}: {text}")
    return None


def may_be_billed(fault: BaseException) -> bool:
    """Whether a request without an answer may have been worked on: nobody waited for its end, or it broke off."""
    status = _status(fault)
    if status is not None:
        return status in GATEWAY_TIMEOUTS
    if isinstance(fault, ModelTimeoutError) or _cut_off(fault) or _unreadable(fault):
        return not _never_arrived(fault)
    return isinstance(fault, (ModelConnectionError, ConnectionError)) and not _never_arrived(fault)


def whereabouts(backbone: Backbone) -> str:
    """Who is asked, as a person would say it."""
    if backbone.base_url:
        return redacted_text(backbone.base_url)
    return "api.openai.com" if backbone.provider == "openai" else backbone.provider


def key_of(backbone: Backbone) -> str:
    """What holds the key."""
    return "OPENAI_API_KEY" if backbone.provider == "openai" else f"the API key for {backbone.provider}"


def in_short(fault: BaseException) -> str:
    """A fault in a few words, for a line on the screen."""
    status = _status(fault)
    if status:
        return f"HTTP {status}"
    if isinstance(fault, ModelTimeoutError):
        return "no answer in time"
    if isinstance(fault, ModelConnectionError):
        return "no connection"
    return "an answer that broke off" if _cut_off(fault) else "an answer that cannot be read"


def response_of(fault: BaseException | None) -> Any:
    """The HTTP response that a fault carries, or None."""
    return getattr(fault, "response", None)


def _unwanted(fault: Exception, text: str, backbone: Backbone) -> UserError | None:
    """A request that was refused for an option that the user chose, or for its tools."""
    param = str(_body(fault).get("param") or "")
    if backbone.protocol == Protocol.TOOLS and (param in ("tools", "tool_choice") or NO_TOOLS.search(text)):
        return NoTools(f"{backbone.name} takes no tools: use --protocol text ({text})")
    for field, (option, names) in OPTIONS.items():
        said = param in names if param else any(re.search(rf"\b{re.escape(name)}\b", text) for name in names)
        if getattr(backbone, field) is not None and said:
            return UserError(f"{backbone.name} refuses {option} {getattr(backbone, field)}: {text}")
    return None


def _text(fault: BaseException) -> str:
    body = _body(fault)
    inner = body.get("error")
    said = (inner if isinstance(inner, dict) else body).get("message")
    said = said or getattr(response_of(fault), "text", None) or fault
    return " ".join(str(said).split())[:200]


def _body(fault: BaseException) -> dict[str, Any]:
    """What the provider said, as JSON; langchain-openai raises a `ValueError` of it where it comes with HTTP 200."""
    said = getattr(fault, "body", None) or (fault.args[0] if isinstance(fault, ValueError) and fault.args else None)
    return said if isinstance(said, dict) else {}


def _status(fault: BaseException) -> int | None:
    """The HTTP code; that of the body where a gateway answers 200 with an error in it."""
    found = getattr(fault, "status_code", None) or _body(fault).get("code")
    try:
        return int(found) if found is not None else None
    except (TypeError, ValueError):
        return None


def _code(fault: BaseException) -> str:
    return str(_body(fault).get("code") or getattr(fault, "code", None))


def _speaks_otherwise(fault: BaseException) -> bool:
    """An answer without `choices`: some other kind of server."""
    return isinstance(fault, (TypeError, KeyError)) and "choices" in str(fault)


def _cut_off(fault: BaseException) -> bool:
    """A stream or body that broke off: raised by the HTTP client, beneath LangChain's error classes."""
    if isinstance(fault, CutOff) or type(fault).__name__ == "JSONDecodeError":
        return True
    return any(_package(base.__module__) in CLIENTS for base in type(fault).__mro__)


def _never_arrived(fault: BaseException | None) -> bool:
    """Whether there was no connection to send the request over."""
    while fault is not None:
        if type(fault).__name__ in ("ConnectError", "ConnectTimeout", "ConnectionRefusedError", "PoolTimeout"):
            return True
        fault = fault.__cause__ or fault.__context__
    return False


def _unreadable(fault: BaseException) -> bool:
    """An answer that the client library stumbled over, or LangChain, which found nothing in what that made of it.

    What our own code beneath it stumbled over is a mistake of ours.
    """
    modules = [str(frame.f_globals.get("__name__", "")) for frame, _ in walk_tb(fault.__traceback__)]
    if modules and _package(modules[-1]) == "egg":
        return False
    packages = {_package(module) for module in modules} - {"langchain_core"}
    if any(package.startswith("langchain_") for package in packages):
        return True
    return bool(modules) and modules[-1].startswith("langchain_core.language_models")


def _package(module: str) -> str:
    return module.partition(".")[0]
