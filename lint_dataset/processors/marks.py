"""Markers around every text of a conversation, so that one render says where each text went.

A marker is a private-use character that neither the conversation nor its render holds. Templates carry it along like
any other character, and whoever deletes the markers from a marked render has to get the plain render: that is the
proof that the markers changed nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

#: The two supplementary private-use planes: 131,068 characters that no tokenizer or template gives a meaning.
_PLANES = (range(0xF0000, 0xFFFFE), range(0x100000, 0x10FFFE))
_PRIVATE = re.compile("[\U000f0000-\U000ffffd\U00100000-\U0010fffd]")
#: How Python prints such a character inside a list.
_ESCAPE = re.compile(r"\\U00(0f[0-9a-f]{4}|10[0-9a-f]{4})")
#: What the same reasoning may be called in a message, in the order in which transformers looks.
REASONING_KEYS = ("reasoning_content", "thinking", "reasoning")


class Text(NamedTuple):
    """One marked text: the index of its message, its text without space around, and whether it is reasoning."""

    message: int
    text: str
    reasoning: bool = False


class TooManyTexts(Exception):
    """There are not enough private-use characters left to mark a conversation of this size."""


class Marked:
    """A conversation with markers around its texts.

    ``messages`` is what to render. ``texts`` are the marked texts in order; blank ones cannot be marked.
    """

    def __init__(self, messages: list[dict[str, Any]], plain: str, only: int | None = None) -> None:
        """Mark the texts of ``messages`` (of one message, where ``only`` is its index), avoiding what ``plain`` holds.

        Raises ``TooManyTexts``.
        """
        self.texts: list[Text] = []
        self._open: dict[str, int] = {}
        self._close: dict[str, int] = {}
        self._free = _free({*_PRIVATE.findall(plain), *(chr(int(code, 16)) for code in _ESCAPE.findall(plain))})
        self.messages = [
            self._message(index, message) if only in (None, index) else message
            for index, message in enumerate(messages)
        ]

    def read(self, render: str) -> tuple[str, dict[int, tuple[int, int]], set[int]]:
        """The marked render without its markers, where each text stands in it, and which were printed as a repr.

        The keys number ``texts``. A text that is printed twice counts where it is printed first. Python prints a
        private-use character of a list as an escape: that is how a list that was printed as it is gives itself away.
        """
        printed: set[int] = set()
        if "\\U00" in render:
            for mark, number in [*self._open.items(), *self._close.items()]:
                escape = repr(mark)[1:-1]
                if escape in render:
                    render = render.replace(escape, mark)
                    printed.add(number)
        pieces: list[str] = []
        length = last = 0
        starts: dict[int, int] = {}
        spans: dict[int, tuple[int, int]] = {}
        for match in _PRIVATE.finditer(render):
            mark = match.group()
            opened, closed = self._open.get(mark), self._close.get(mark)
            if opened is None and closed is None:
                continue
            pieces.append(render[last : match.start()])
            length += match.start() - last
            last = match.end()
            if opened is not None:
                starts.setdefault(opened, length)
            elif closed is not None and closed in starts and closed not in spans:
                spans[closed] = (starts[closed], length)
        pieces.append(render[last:])
        return "".join(pieces), spans, printed

    def _message(self, index: int, message: dict[str, Any]) -> dict[str, Any]:
        marked = dict(message)
        content = message.get("content")
        if isinstance(content, str):
            answers = message.get("role") in ("assistant", "model")
            marked["content"] = self._thinking(index, content) if answers else self._wrap(index, content)
        elif isinstance(content, list):
            marked["content"] = [self._item(index, item) for item in content]
        reasoning: dict[str, str] = {}
        for key in REASONING_KEYS:
            text = message.get(key)
            if isinstance(text, str):
                if text not in reasoning:
                    reasoning[text] = self._wrap(index, text, reasoning=True)
                marked[key] = reasoning[text]
        return marked

    def _item(self, index: int, item: Any) -> Any:
        if isinstance(item, str):
            return self._wrap(index, item)
        if isinstance(item, dict) and isinstance(item.get("text"), str):
            return {**item, "text": self._wrap(index, item["text"])}
        return item

    def _thinking(self, index: int, text: str) -> str:
        """Reasoning inside an answer is marked by itself: many templates take it apart, or print it only at the end."""
        head, tag, answer = text.rpartition("</think>")
        if not tag:
            return self._wrap(index, text)
        before, opening, reasoning = head.partition("<think>")
        if not opening:
            before, reasoning = "", head
        return (
            self._wrap(index, before) + opening + self._wrap(index, reasoning, reasoning=True) + tag
            + self._wrap(index, answer)
        )  # fmt: skip

    def _wrap(self, index: int, text: str, *, reasoning: bool = False) -> str:
        core = text.strip()
        if not core:
            return text
        try:
            opening, closing = next(self._free), next(self._free)
        except StopIteration:
            raise TooManyTexts from None
        number = len(self.texts)
        self.texts.append(Text(index, core, reasoning))
        self._open[opening] = self._close[closing] = number
        start = len(text) - len(text.lstrip())
        return f"{text[:start]}{opening}{core}{closing}{text[start + len(core) :]}"


def _free(used: Iterable[str]) -> Iterator[str]:
    used = set(used)
    return (chr(code) for plane in _PLANES for code in plane if chr(code) not in used)
