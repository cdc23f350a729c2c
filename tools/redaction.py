"""What a run folder may hold of a text: no keys, no `Authorization`, no passwords in addresses."""

import os
import re
from typing import Any

REMOVED = "(removed)"
SECRET_NAME = re.compile(r"(_|^)(KEY|TOKEN|SECRET|PASSWORD)$")
"""Ends of the names of environment variables whose values are secrets."""
SHORTEST = 8
"""Characters of the shortest value that is taken for a secret; a shorter one would be found in any text."""
FIELDS = frozenset({"authorization", "proxy-authorization", "api-key", "x-api-key", "cookie", "set-cookie", "password"})
"""Fields of a JSON object whose values are secrets, whatever they say."""

Rule = tuple[re.Pattern[str], str]
RULES: tuple[Rule, ...] = (
    (re.compile(r"(\b[a-z][a-z0-9+.-]*://)[^/\s@\"'`]+@", re.IGNORECASE), rf"\1{REMOVED}@"),
    (re.compile(r"([?&](?:(api|access)[-_]?)?(?:key|token|sig)=)[^&\s\"'`#]+", re.IGNORECASE), rf"\1{REMOVED}"),
    (re.compile(r"(\b(?:Bearer|Basic)\s+)[A-Za-z0-9+/._~=-]{8,}"), rf"\1{REMOVED}"),
    (re.compile(r"\b(?:sk|rk|pk|gsk|xai|hf|ghp|nvapi)[-_][A-Za-z0-9_-]{16,}"), REMOVED),
    (re.compile(r"\bAIza[A-Za-z0-9_-]{30,}"), REMOVED),
)  # fmt: skip
"""Credentials by their looks: in addresses, in headers that a message quotes, keys of well-known forms."""


def redacted(value: Any) -> Any:
    """The JSON-able value without secrets: those of this process's environment, and what looks like one."""
    return _without(value, _known())


def redacted_text(text: str) -> str:
    """The same for a text."""
    return _clean(text, _known())


def _without(value: Any, known: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        return _clean(value, known)
    if isinstance(value, dict):
        return {
            name: REMOVED if _is_secret(name) and isinstance(inner, str) and inner else _without(inner, known)
            for name, inner in value.items()
        }
    return [_without(inner, known) for inner in value] if isinstance(value, (list, tuple)) else value


def _clean(text: str, known: tuple[str, ...]) -> str:
    for secret in known:
        text = text.replace(secret, REMOVED)
    for pattern, instead in RULES:
        text = pattern.sub(instead, text)
    return text


def _is_secret(name: Any) -> bool:
    return str(name).lower().replace("_", "-") in FIELDS


def _known() -> tuple[str, ...]:
    values = {value for name, value in os.environ.items() if SECRET_NAME.search(name.upper())}
    return tuple(sorted((value for value in values if len(value) >= SHORTEST), key=len, reverse=True))
