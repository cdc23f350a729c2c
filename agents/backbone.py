"""The model factory: one function from settings to a chat model."""

import os
from urllib.parse import urlsplit

from langchain_core.language_models import BaseChatModel

from egg.agents.rulebook import Rulebook
from egg.state.errors import UserError
from egg.state.settings import Settings

RULEBOOK = "rulebook"
SECONDS = 600.0
"""Longest silence of a provider before the request counts as failed."""


def chat_model(settings: Settings, role: str) -> BaseChatModel:
    """The backbone that plays `role`. Retries are not its business (see `egg.agents.provider`).

    Raises:
        UserError: for a model that is not offered, or a missing key.
    """
    if settings.model == RULEBOOK:
        return Rulebook()
    from langchain_openai import ChatOpenAI  # more than a second to import, and the rulebook does without
    from pydantic import SecretStr

    return ChatOpenAI(
        model=_name(settings),
        base_url=settings.base_url,
        api_key=SecretStr(_key(settings)),
        max_retries=0,
        timeout=SECONDS,
        stream_usage=True,
        tags=[role],
    )


def check_backbone(settings: Settings) -> None:
    """Find out in a second what would otherwise end the run at its first model call.

    Raises:
        UserError: for an unknown model, a missing or refused key, an endpoint that cannot be reached.
    """
    if settings.model == RULEBOOK:
        if settings.base_url:
            raise UserError("--base-url is for an LLM: give --model openai:NAME with it, or leave it out")
        return
    name, key = _name(settings), _key(settings)
    if settings.base_url and urlsplit(settings.base_url).scheme not in ("http", "https"):
        raise UserError(f"--base-url {settings.base_url} is not a URL: give one like http://localhost:8000/v1")
    import openai

    where = settings.base_url or "api.openai.com"
    client = openai.OpenAI(api_key=key, base_url=settings.base_url, max_retries=0, timeout=10)
    try:
        answer = client.models.retrieve(name)
        if not isinstance(answer, openai.types.Model):
            raise UserError(f"{where} is no OpenAI-compatible server: check --base-url (it usually ends in /v1)")
    except (openai.AuthenticationError, openai.PermissionDeniedError):
        raise UserError(f"{where} refused the key: set OPENAI_API_KEY to one that may use {name}") from None
    except openai.APIConnectionError:
        raise UserError(f"cannot reach {where}: check --base-url and the network") from None
    except openai.NotFoundError:
        if settings.base_url is None:  # other servers may not list their models, and say so with the same code
            raise UserError(f"{where} does not know {name}: check --model") from None
    except openai.APIError:
        pass  # it answered; whether it can do more is for the first call to find out
    finally:
        client.close()


def _name(settings: Settings) -> str:
    provider, _, name = settings.model.partition(":")
    if provider != "openai" or not name:
        raise UserError(f"unknown model {settings.model}: use `rulebook`, or `openai:NAME` (see also --base-url)")
    return name


def _key(settings: Settings) -> str:
    """The key; servers of one's own often want none."""
    if key := os.environ.get("OPENAI_API_KEY"):
        return key
    if settings.base_url:
        return "none"
    raise UserError(f"{settings.model} needs a key: set OPENAI_API_KEY, or give --base-url for a server without one")
