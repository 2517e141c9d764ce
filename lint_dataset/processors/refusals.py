"""A row that the template refuses, as faults: what it raised, and for what of the row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lint_dataset.conversations import Conversation
from lint_dataset.conversations.faults import name_of
from lint_dataset.faults import Fault
from lint_dataset.processors import guard
from lint_dataset.processors.causes import Cause, refused

if TYPE_CHECKING:
    from lint_dataset.processors.loading import Processor

_FORMS = {"arguments are text": "text", "arguments are objects": "object"}


def refusals(
    error: Exception, conversation: Conversation, messages: list[dict[str, Any]], processor: Processor
) -> list[Fault]:
    """The faults of a row whose render raised ``error``: one for each thing that the template does not take."""
    said = {"error": type(error).__name__, "says": guard.first_line(error)}
    causes = refused(processor, messages, conversation.tools, conversation.variables)
    return [_fault(cause, said, messages) for cause in causes] or [Fault("M101", said)]


def _fault(cause: Cause, said: dict[str, Any], messages: list[dict[str, Any]]) -> Fault:
    message = messages[cause.message]
    place = {"message": cause.message + 1, "role": name_of(message.get("role"))}
    if cause.what in _FORMS:
        return Fault("M113", {**said, **place, "form": _FORMS[cause.what], "does": "raises", "other": True})
    if cause.what in ("tools", "no tools"):
        return Fault("M101", {**said, "cause": cause.what})
    if cause.what == "order":
        place["last"] = cause.message == len(messages) - 1
    return Fault("M101", {**said, **place, "cause": cause.what})
