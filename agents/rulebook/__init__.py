"""The built-in expert: a chat model that follows rules instead of weights."""

from egg.agents.rulebook.model import Rulebook

__all__ = ["Rulebook"]
