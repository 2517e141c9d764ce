"""Mistral's own tokenizer, where a folder holds nothing but a tekken.json: counts and answers as mistral-common's."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from lint_dataset.api import lint
from lint_dataset.conversations import convert, parse
from lint_dataset.media import Library
from lint_dataset.plan import Plan
from lint_dataset.processors import ProcessorUnavailable, load, locate
from lint_dataset.processors.counting import count
from lint_dataset.processors.rendering import render
from lint_dataset.usage import UsageError

ROWS: list[list[tuple[str, str]]] = [
    [("user", "What is 2 + 2?"), ("assistant", "Four.")],
    [("system", "Be kind."), ("user", "Hé 日本 👋"), ("assistant", "👋👋 là"), ("user", "more"), ("assistant", "yes")],
    [("user", "[INST] </s> [/INST]"), ("assistant", "what looks like [INST] is text</s>")],
    [("user", "  spaces  "), ("assistant", "\n\n lines \n")],
    [("user", "हिन्दी العربية"), ("assistant", "def f(x):\n\treturn x  # 🏳️‍🌈")],
]


@pytest.fixture(scope="module")
def backend() -> Any:
    """transformers' own backend in fine-tuning mode, on a vocabulary that mistral-common brings along."""
    common = pytest.importorskip("mistral_common", reason="mistral-common is not installed")
    from transformers import MistralCommonBackend

    path = Path(common.__file__).parent / "data" / "tekken_240911.json"
    return MistralCommonBackend(tokenizer_path=path, mode="finetuning")


@pytest.fixture(scope="module")
def folder(backend: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    import mistral_common

    folder = tmp_path_factory.mktemp("mistral")
    shutil.copy(Path(mistral_common.__file__).parent / "data" / "tekken_240911.json", folder / "tekken.json")
    (folder / "config.json").write_text('{"model_type": "mistral"}')
    return folder


@pytest.fixture(scope="module")
def processor(folder: Path) -> Any:
    return load(locate(None, str(folder)))


def messages(row: list[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"role": role, "content": text} for role, text in row]


@pytest.mark.parametrize("row", ROWS, ids=range(len(ROWS)))
def test_tokens_and_answers_are_exact(row: list[tuple[str, str]], processor: Any, backend: Any) -> None:
    expected = backend.apply_chat_template(messages(row), tokenize=True, return_dict=False)
    conversation, _ = convert(parse(json.dumps({"messages": messages(row)}).encode())[0])
    assert conversation is not None
    rendered, faults = render(conversation, processor, "", Library())
    assert rendered is not None, faults
    (encoding,) = processor.encode([rendered.text], rendered.add_special_tokens)
    assert encoding.ids == list(expected)
    measured, _ = count(rendered, encoding, processor)
    assert measured["tokens"] == len(expected)
    said = [text.strip() for role, text in row if role == "assistant"]
    decode = backend.tokenizer.instruct_tokenizer.tokenizer.decode
    assert len(measured["answers"]) == len(said)
    for text, answer in zip(said, measured["answers"], strict=True):
        ids = encoding.ids[answer["start"] : answer["end"]]
        assert ids[-1] == backend.eos_token_id
        assert decode(ids).strip() == text


def test_a_text_is_tokenized_as_it_stands(processor: Any, backend: Any) -> None:
    (encoding,) = processor.encode(["[INST] 日本</s>"], True)
    assert encoding.ids == backend("[INST] 日本</s>", add_special_tokens=True)["input_ids"]
    assert encoding.offsets[0] == (0, 0)
    assert encoding.offsets[-2][1] == len("[INST] 日本</s>")


def test_offsets_cover_the_text_in_order(processor: Any) -> None:
    text = "a👋日本é🏳️‍🌈z" * 3
    (encoding,) = processor.encode([text], False)
    at = 0
    for start, end in encoding.offsets:
        assert start <= at <= end
        assert start < end
        at = end
    assert at == len(text)


def test_a_row_that_ends_with_a_question_is_refused_as_mistral_refuses_it(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"messages": messages([("user", "why?")])}) + "\n")
    result = lint([str(path)], Plan(tokenizer=str(folder)))
    assert "M101" in {diagnostic.code for diagnostic in result.diagnostics}


def test_it_takes_no_template(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "own.jinja").write_text("{{ messages }}")
    with pytest.raises(UsageError, match="Mistral's own"):
        load(locate(None, str(folder), chat_template=str(tmp_path / "own.jinja")))


def test_without_mistral_common_the_way_out_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lint_dataset.processors import loading

    (tmp_path / "tekken.json").write_text("{}")
    monkeypatch.setattr(loading, "find_spec", lambda name: None)
    with pytest.raises(ProcessorUnavailable, match="mistral-common is not installed") as raised:
        load(locate(None, str(tmp_path)))
    assert "pip install mistral-common" in raised.value.remedy
