"""What may not stand in a run folder."""

import pytest

from egg.tools.redaction import redacted, redacted_text

KEY = "sk-proj-abcdefghijklmnop0123456789"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"Incorrect API key provided: {KEY}.", "Incorrect API key provided: (removed)."),
        ("http://me:hunter2@box:8000/v1", "http://(removed)@box:8000/v1"),
        ("https://token@gate.example/v1", "https://(removed)@gate.example/v1"),
        ("see https://gate.example/v1?api_key=abc123&x=1", "see https://gate.example/v1?api_key=(removed)&x=1"),
        ("Authorization: Bearer abcdef0123456789", "Authorization: Bearer (removed)"),
    ],
)
def test_secrets_are_removed_by_their_looks(text: str, kept: str) -> None:
    assert redacted_text(text) == kept


def test_the_value_of_a_secret_variable_is_removed_wherever_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_API_KEY", "a plain pass phrase")
    monkeypatch.setenv("ACME_TOKEN", "four")  # too short to tell from other text
    told = {"answer": ["it is a plain pass phrase, four words"], "headers": {"X-Api-Key": "x", "status": 200}}
    kept = {"answer": ["it is (removed), four words"], "headers": {"X-Api-Key": "(removed)", "status": 200}}
    assert redacted(told) == kept


@pytest.mark.parametrize(
    "text",
    [
        "@triton.jit\ndef kernel(x_ptr, key=1):\n    y = tl.load(x_ptr)  # a @ b\n",
        "http://localhost:8000/v1?model=tiny",
        "task-oriented-and-a-long-word-with-hyphens",
        "Basic blocks of 128; bearer of news",
    ],
)
def test_other_text_stays(text: str) -> None:
    assert redacted_text(text) == text
