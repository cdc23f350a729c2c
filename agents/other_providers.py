"""Models of any provider that LangChain has a package for, once that package is installed."""

from typing import Any

from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr, ValidationError

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
    asked: dict[str, Any] = {PASSED[name]: value for name in OPTIONS if (value := getattr(backbone, name)) is not None}
    if backbone.base_url:
        asked["base_url"] = backbone.base_url
    given: dict[str, Any] = {"model_provider": provider, "tags": [role], **asked}
    try:
        model = init_chat_model(backbone.name, **given)
        taken = _taken(type(model))
        if standing := _standing(taken, timeout):
            model = init_chat_model(backbone.name, **given, **standing)
    except ImportError as error:
        raise UserError(f"{backbone.model}: {_line(error)}") from None
    except ValueError as error:  # pydantic's, and that of an unknown provider
        raise UserError(f"{backbone.model} cannot be set up: {_line(error)}") from None
    assert isinstance(model, BaseChatModel)  # it is a configurable one only if asked for
    _refuse_ignored(backbone, list(asked), taken)
    _want_key(backbone, model)
    return model


def _taken(kind: type[BaseChatModel]) -> set[str]:
    """Names of what a provider's class takes. What else it is given it drops without a word, or refuses."""
    fields = kind.model_fields.items()
    return {str(each) for name, field in fields for each in (name, field.alias, field.validation_alias)}


def _standing(taken: set[str], timeout: float) -> dict[str, Any]:
    """No retries of its own, and an end to waiting, which Ollama's class leaves to its HTTP client."""
    wanted: dict[str, Any] = {"max_retries": 0, "timeout": timeout}
    if "timeout" not in taken:
        wanted["client_kwargs"] = {"timeout": timeout}
    return {name: value for name, value in wanted.items() if name in taken}


def _refuse_ignored(backbone: Backbone, asked: list[str], taken: set[str]) -> None:
    for name in asked:
        if name not in taken:
            option = next((OPTIONS[ours][0] for ours, theirs in PASSED.items() if theirs == name), "--base-url")
            raise UserError(f"{backbone.provider} models take no {option} here: leave it out")


def _want_key(backbone: Backbone, model: BaseChatModel) -> None:
    """Some classes take an empty key, and fail at the first call as if there were no network."""
    for name in type(model).model_fields:
        value = getattr(model, name)
        if name.endswith("api_key") and isinstance(value, SecretStr) and not value.get_secret_value():
            raise UserError(f"{backbone.model} needs a key: set {name.upper()}")


def _line(error: Exception) -> str:
    first = error.errors()[0] if isinstance(error, ValidationError) else None
    said = f"{'.'.join(map(str, first['loc']))}: {first['msg']}" if first else str(error)
    return " ".join(said.split())[:300]
