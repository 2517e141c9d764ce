"""Preference pairs, for DPO and its like: the same prompt with a chosen and a rejected answer.

The answers are strings, single messages, or lists of messages, with the prompt beside them or, where both lists begin
alike, in them: ``chosen`` and ``rejected``, ``chosen_messages`` and ``rejected_messages`` (LLaMA-Factory v1), or the
last answer and ``rejected_response`` or ``rejected_messages`` (ms-swift); ``preferred_output`` and
``non_preferred_output`` beside an ``input`` of messages (OpenAI).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from lint_dataset.conversations.building import build
from lint_dataset.conversations.checks import turn_faults
from lint_dataset.conversations.columns import tools_of, variables_of
from lint_dataset.conversations.families import llama_factory
from lint_dataset.conversations.faults import type_name
from lint_dataset.conversations.history import history_of, string_faults
from lint_dataset.conversations.media_columns import place_media
from lint_dataset.conversations.registry import Converted, family
from lint_dataset.conversations.shape import Conversation, Message
from lint_dataset.conversations.turns import turns_of
from lint_dataset.faults import Fault

_PAIRS = (
    ("chosen", "rejected"),
    ("chosen_messages", "rejected_messages"),
    ("preferred_output", "non_preferred_output"),
    ("messages", "rejected_messages"),
    ("response", "rejected_response"),
    ("messages", "rejected_response"),
)
_LISTS = ("messages", "conversations", "prompt")
_QUESTIONS = ("instruction", "query", "prompt", "question")


def _pair(row: dict[str, Any]) -> tuple[str, str] | None:
    """The columns of the chosen and the rejected answer: flags of these names are neither."""

    def answers(pair: tuple[str, str]) -> bool:
        held = [row.get(name) for name in pair]
        return None not in held and any(isinstance(value, (str, list, dict)) for value in held)

    return next(filter(answers, _PAIRS), None)


class _Said(NamedTuple):
    """What a column says: a text, or messages. Neither where it cannot be read; the faults say why."""

    text: str | None = None
    messages: tuple[Message, ...] = ()
    faults: list[Fault] = []  # noqa: RUF012 - never changed

    @property
    def readable(self) -> bool:
        return self.text is not None or bool(self.messages)


@family(
    "preference",
    keys=(("rejected", "rejected_messages", "rejected_response", "non_preferred_output"),),
    order=4,
    where=lambda row: _pair(row) is not None,
    also=(*_QUESTIONS, *_LISTS, "chosen", "chosen_messages", "response", "input", "output", "text", "completion"),
)
def convert(row: dict[str, Any]) -> Converted:
    """The conversation with the chosen answer, and in ``rejected`` the one with the rejected answer."""
    pair = _pair(row) or _PAIRS[0]
    if isinstance(row.get("input"), dict):  # OpenAI's: the messages, and the tools where there are any
        row = {**row, **row["input"], "input": None}
    prompt, faults = _prompt(row, pair)
    good, bad = (_said(row[name], name, len(prompt.messages) + 1) for name in pair)
    if pair == ("messages", "rejected_response") and good.messages:
        prompt, good = _Said(messages=good.messages[:-1]), _Said(messages=good.messages[-1:])
    faults += good.faults + [fault for fault in bad.faults if fault not in good.faults]
    if not good.readable or not bad.readable or prompt.faults:
        return None, faults
    if good.text is not None and bad.text is not None and not prompt.messages:
        return _texts(prompt.text, good.text, bad.text, faults)
    return _lists(row, prompt, _answer(good), _answer(bad), faults)


def _prompt(row: dict[str, Any], pair: tuple[str, str]) -> tuple[_Said, list[Fault]]:
    """What stands before both answers; nothing where the answers' lists have it themselves."""
    column = next((name for name in _LISTS if isinstance(row.get(name), list) and name not in pair), None)
    if column is not None and row[column] and not _whole(row, pair):
        said = _said(row[column], column, 1)
        return said, list(said.faults)
    question = next((name for name in _QUESTIONS if row.get(name) is not None), None)
    if question is None or _whole(row, pair):
        return _Said(), []
    faults = string_faults(row, (question, "input", "system"), needed=question)
    history, found = history_of(row)
    faults += found
    if faults:
        return _Said(faults=faults), faults
    asked = "\n".join(filter(None, (row[question], row.get("input") if question == "instruction" else None)))
    if question == "prompt" and not history and not row.get("system") and isinstance(row[pair[0]], str):
        return _Said(asked), []
    system = [build("system", row["system"])] if row.get("system") else []
    return _Said(messages=(*system, *history, build("user", asked))), []


def _whole(row: dict[str, Any], pair: tuple[str, str]) -> bool:
    """Whether both answers are whole conversations: lists that do not begin with the assistant."""

    def begins(items: Any) -> bool:
        first = items[0] if isinstance(items, list) and items else None
        speaker = first.get("role", first.get("from")) if isinstance(first, dict) else None
        return speaker is not None and speaker not in ("assistant", "gpt")

    return all(begins(row[name]) for name in pair)


def _said(value: Any, column: str, first: int) -> _Said:
    if isinstance(value, str):
        return _Said(value)
    items = [value] if isinstance(value, dict) else value
    if not isinstance(items, list):
        expected = "string or array"
        return _Said(faults=[Fault("S003", {"field": column, "got": type_name(value), "expected": expected})])
    if not items:
        return _Said(faults=[Fault("S004", {"field": column})])
    read = llama_factory.messages_of if llama_factory.has_values(items) else turns_of
    messages, faults = read(items, first)
    return _Said(messages=messages or (), faults=faults)


def _answer(said: _Said) -> tuple[Message, ...]:
    return said.messages or (build("assistant", said.text or ""),)


def _texts(prompt: str | None, good: str, bad: str, faults: list[Fault]) -> Converted:
    """Answers that are texts, behind a prompt that is one, or that is what both have in common."""
    if prompt is None:
        common = _common(good, bad)
        prompt, good, bad = good[:common], good[common:], bad[common:]
    if not good.strip():
        faults = [*faults, Fault("M009", {"message": None, "field": "chosen"})]
    if good == bad:
        faults = [*faults, Fault("S018", {})]
    one, other = (Conversation("preference", text=prompt + answer, completion=len(prompt)) for answer in (good, bad))
    return replace(one, rejected=other), faults


def _common(good: str, bad: str) -> int:
    """Where two texts part; before the space in front of that, where there is one: TRL's ``extract_prompt``."""
    common = next((i for i, (a, b) in enumerate(zip(good, bad, strict=False)) if a != b), min(len(good), len(bad)))
    return common - 1 if common and good[common - 1] == " " else common


def _lists(
    row: dict[str, Any], prompt: _Said, good: tuple[Message, ...], bad: tuple[Message, ...], faults: list[Fault]
) -> Converted:
    """Answers that are messages. What both lists begin with is their prompt."""
    before = prompt.messages or ((build("user", prompt.text),) if prompt.text else ())
    shared = 0
    if not before:
        same = (a.template == b.template for a, b in zip(good, bad, strict=False))
        shared = next((i for i, equal in enumerate(same) if not equal), min(len(good), len(bad)))
    start = len(before) + shared
    tools, found = tools_of(row)
    variables, more = variables_of(row)
    faults = [*faults, *found, *more]
    if good == bad:
        faults.append(Fault("S018", {}))
        start = len(before) + max((i for i, one in enumerate(good) if one.role == "assistant"), default=0)
    answers = (*before, *good)[start:]
    faults += turn_faults(answers, {}, first=start + 1) if answers else []
    made = []
    for answer in (good, bad):
        messages, found = place_media((*before, *answer), row)
        made.append(Conversation("preference", messages, tools, completion=start, variables=variables))
    return replace(made[0], rejected=made[1]), faults + found
