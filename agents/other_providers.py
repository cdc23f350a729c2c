"""Models of any provider that LangChain has a package for, once that package is installed."""

from typing import Any

from langchain_core.language_models import BaseChatModel
from pydantic import ValidationError

from egg.agents.faults import OPTIONS
from egg.state.backbone import Backbone
from egg.state.errors import UserError

PASSED = {"temperature": "temperature", "effort": "reasoning_effort", "max_output": "max_tokens"}
"""Our fields by the names that `init_chat_model` passes to every provider's class."""


def other_provider(backbone: Backbone, role: str, timeout: float) -> BaseChatModel:
    """A model by `init_chat_model`, without retries of its own.

    Raises:
        UserError: a package or key is missing, the provider is unknown, or it lacks an option that was asked for.
    """
    provider = backbone.provider
    try:
        from langchain.chat_models import init_chat_model
    except ImportError:
        package = f"langchain-{provider.replace('_', '-')}"
        raise UserError(f"{backbone.model} needs LangChain's packages: pip install langchain {package}") from None
    asked = {PASSED[name]: value for name in OPTIONS if (value := getattr(backbone, name)) is not None}
    endpoint = {"base_url": backbone.base_url} if backbone.base_url else {}
    standing: dict[str, Any] = {"max_retries": 0, "timeout": timeout, "tags": [role]}
    try:
        model = init_chat_model(backbone.name, model_provider=provider, **asked, **endpoint, **standing)
    except ImportError as error:
        raise UserError(f"{backbone.model}: {_line(error)}") from None
    except ValueError as error:  # pydantic's, and that of an unknown provider
        raise UserError(f"{backbone.model} cannot be set up: {_line(error)}") from None
    assert isinstance(model, BaseChatModel)  # it is a configurable one only if asked for
    _refuse_ignored(backbone, model, [*asked, *endpoint])
    return model


def _refuse_ignored(backbone: Backbone, model: BaseChatModel, asked: list[str]) -> None:
    """Provider classes drop what they do not know without a word."""
    known: set[str] = set()
    for name, field in type(model).model_fields.items():
        known |= {name, str(field.alias), str(field.validation_alias)}
    for name in asked:
        if name not in known:
            option = next((OPTIONS[ours][0] for ours, theirs in PASSED.items() if theirs == name), "--base-url")
            raise UserError(f"{backbone.provider} models take no {option} here: leave it out")


def _line(error: Exception) -> str:
    first = error.errors()[0] if isinstance(error, ValidationError) else None
    said = f"{'.'.join(map(str, first['loc']))}: {first['msg']}" if first else str(error)
    return " ".join(said.split())[:300]
