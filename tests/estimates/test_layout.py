"""The tokens that a template adds, known without it: the same, place by place, as the real template and tokenizer."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from lint_dataset.conversations import convert
from lint_dataset.estimates import family_of
from lint_dataset.estimates.layout import lay_out
from lint_dataset.measure import measure_batch

if TYPE_CHECKING:
    from lint_dataset.processors.loading import Processor

#: Words that are one token, with or without a space before them, in every vocabulary that is tested.
WORDS = ("one", "two", "three", "four", "five", "six")
CONVERSATIONS = {
    "short": ("user", "assistant"),
    "system": ("system", "user", "assistant"),
    "long": ("user", "assistant", "user", "assistant"),
    "all": ("system", "user", "assistant", "user", "assistant"),
}
#: A real template by the name of its package, and a model whose name leads to the family that has it.
TEMPLATES = {
    "gemma3": "google/gemma-3-4b-it",
    "gemma3n": "google/gemma-3n-E2B-it",
    "qwen3": "Qwen/Qwen3-8B",
    "llama3_1": "meta-llama/Meta-Llama-3-8B-Instruct",
    "deepseek_v3": "deepseek-ai/DeepSeek-V3",
}


def _row(roles: tuple[str, ...]) -> dict[str, Any]:
    return {"messages": [{"role": role, "content": word} for role, word in zip(roles, WORDS, strict=False)]}


def _places(row: dict[str, Any], model: str) -> dict[str, Any]:
    """The places of a layout, where every text is one token."""
    conversation = convert(row)[0]
    family = family_of(model)
    assert conversation is not None
    assert family is not None
    layout = lay_out(conversation, family, "")
    assert layout is not None
    turns = [
        {"role": role, "start": sum(start), "end": sum(end), "marker_end": sum(marker), "trained": trained}
        for role, start, end, marker, trained in layout.turns
    ]
    return {"tokens": sum(layout.here()), "turns": turns}


def _measured(row: dict[str, Any], processor: Processor) -> dict[str, Any]:
    columns = {"path": ["d.jsonl"], "line": [1], "raw": [json.dumps(row).encode()], "blobs": [[]], "faults": [[]]}
    (measured,) = measure_batch(pa.RecordBatch.from_pydict(columns), processor).to_pylist()
    # That Gemma's template folds a system message into the first turn is a finding, and no trouble here.
    assert {fault["code"] for fault in measured["faults"]} <= {"M116"}
    return measured


@pytest.mark.parametrize("roles", CONVERSATIONS.values(), ids=CONVERSATIONS)
@pytest.mark.parametrize("name", TEMPLATES)
def test_turns_stand_where_the_real_template_puts_them(
    loaded: Callable[[str], Processor], name: str, roles: tuple[str, ...]
) -> None:
    row = _row(roles)
    expected, found = _measured(row, loaded(name)), _places(row, TEMPLATES[name])
    assert found["tokens"] == expected["tokens"]
    spoken = [i for i, role in enumerate(roles) if role != "system"]
    assert [found["turns"][i] for i in spoken if roles[i] == "assistant"] == [
        expected["turns"][i] for i in spoken if roles[i] == "assistant"
    ]


@pytest.mark.parametrize("row", [{"text": "one"}, {"prompt": "one", "completion": " two"}], ids=["text", "completion"])
@pytest.mark.parametrize("name", TEMPLATES)
def test_plain_rows_begin_and_end_as_the_tokenizer_says(
    loaded: Callable[[str], Processor], name: str, row: dict[str, Any]
) -> None:
    expected, found = _measured(row, loaded(name)), _places(row, TEMPLATES[name])
    assert found == {"tokens": expected["tokens"], "turns": expected["turns"]}
