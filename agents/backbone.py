"""The model factory: one function from settings to a chat model."""

import os
from functools import lru_cache
from urllib.parse import urlsplit

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig
from pydantic import ValidationError

from egg.agents.faults import whereabouts
from egg.agents.other_providers import other_provider
from egg.agents.replayed import recording
from egg.agents.rulebook import Rulebook
from egg.state.backbone import ROLES, Backbone, Role
from egg.state.errors import UserError
from egg.state.settings import Settings
from egg.tools.redaction import REMOVED

OPENAI = "openai"
INSTEAD = "backbone"
"""Key of a config's `configurable`."""
SECONDS = 600.0
"""Longest silence of a provider before the request counts as failed."""


def chat_model(settings: Settings, role: Role) -> BaseChatModel:
    """The backbone that plays `role`. Retries are not its business (see `egg.agents.provider`).

    Raises:
        UserError: for a model that is not offered, a missing key or package, an option that the provider lacks.
    """
    backbone = settings.backbone(role)
    if backbone.is_rulebook:
        return Rulebook()
    if backbone.is_replay:
        raise UserError(f"{backbone.model} answers what that run asked and nothing else: use it with `egg optimize`")
    _check_name(backbone)
    return _client(backbone, role, SECONDS, frozenset(os.environ.items()))


def asked_instead(settings: Settings, config: RunnableConfig) -> Settings:
    """The settings with the backbone that a resumed run is to go on with: `configurable["backbone"]` of its config.

    What was answered before stays answered; a run, or a seed, that the rulebook plays is left to it.

    Raises:
        UserError: if that is no backbone.
    """
    instead = config.get("configurable", {}).get(INSTEAD)
    if instead is None or not settings.with_model:
        return settings
    try:
        return settings.asking_by(Backbone.model_validate(instead))
    except ValidationError as error:
        raise UserError(f"not a backbone to go on with: {error.errors()[0]['msg']}") from None


def check_backbone(settings: Settings) -> None:
    """Find out in a second what would otherwise end the run at its first model call.

    Raises:
        UserError: for an unknown model, a missing or refused key, an endpoint that cannot be reached.
    """
    if settings.base_url and not settings.with_model:
        raise UserError("--base-url is for an LLM: give --model openai:NAME with it, or leave it out")
    seen: list[Backbone] = []
    for role in ROLES:
        backbone = settings.backbone(role)
        if backbone.is_replay:
            recording(backbone.name)
        elif backbone not in seen and not backbone.is_rulebook:
            seen.append(backbone)
            chat_model(settings, role)
            if backbone.provider == OPENAI:
                _reach(backbone)


@lru_cache(maxsize=16)
def _client(backbone: Backbone, role: Role, seconds: float, environment: frozenset[tuple[str, str]]) -> BaseChatModel:
    """One client for all calls of a role, so that they share a connection, as long as keys and proxies are the same."""
    if backbone.provider == OPENAI:
        return _openai(backbone, role, _key(backbone), seconds)
    return other_provider(backbone, role, seconds)


def _openai(backbone: Backbone, role: Role, key: str, seconds: float) -> BaseChatModel:
    from pydantic import SecretStr

    from egg.agents.openai_model import OpenAIChat  # more than a second, and the rulebook does without

    return OpenAIChat(
        model=backbone.name,
        base_url=backbone.base_url,
        api_key=SecretStr(key),
        temperature=backbone.temperature,
        reasoning_effort=backbone.effort,
        max_completion_tokens=backbone.max_output,
        max_retries=0,
        timeout=seconds,
        stream_usage=True,
        tags=[role],
    )


def _check_name(backbone: Backbone) -> None:
    if not backbone.name:
        raise UserError(f"unknown model {backbone.model}: use `rulebook`, or `openai:NAME` (see also --base-url)")
    if backbone.base_url and REMOVED in backbone.base_url:
        raise UserError("the password in the base URL was not kept: give --model and the whole --base-url again")
    if backbone.base_url and urlsplit(backbone.base_url).scheme not in ("http", "https"):
        raise UserError(f"--base-url {whereabouts(backbone)} is not a URL: give one like http://localhost:8000/v1")


def _reach(backbone: Backbone) -> None:
    """Ask for the model's entry, which costs nothing."""
    import openai

    where, name, key = whereabouts(backbone), backbone.name, _key(backbone)
    client = openai.OpenAI(api_key=key, base_url=backbone.base_url, max_retries=0, timeout=10)
    try:
        answer = client.models.retrieve(name)
        if not isinstance(answer, openai.types.Model):
            raise UserError(f"{where} is no OpenAI-compatible server: check --base-url (it usually ends in /v1)")
    except (openai.AuthenticationError, openai.PermissionDeniedError):
        raise UserError(f"{where} refused the key: set OPENAI_API_KEY to one that may use {name}") from None
    except openai.APIConnectionError:
        raise UserError(f"cannot reach {where}: check --base-url and the network") from None
    except openai.NotFoundError:
        if backbone.base_url is None:  # other servers may not list their models, and say so with the same code
            raise UserError(f"{where} does not know {name}: check --model") from None
    except openai.APIError:
        pass  # it answered; whether it can do more is for the first call to find out
    finally:
        client.close()


def _key(backbone: Backbone) -> str:
    """The key; servers of one's own often want none."""
    if key := os.environ.get("OPENAI_API_KEY"):
        return key
    if backbone.base_url:
        return "none"
    raise UserError(f"{backbone.model} needs a key: set OPENAI_API_KEY, or give --base-url for a server without one")
