"""A chat template of one's own takes the place of the processor's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lint_dataset.api import lint
from lint_dataset.plan import Plan
from lint_dataset.processors import load, locate
from lint_dataset.usage import UsageError

from .tiny import files

LONGER = "{% for m in messages %}<{{ m['role'] }}> good good {{ m['content'] }} </s> {% endfor %}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    for name, content in files("good", "day").items():
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    messages = [{"role": "user", "content": "good day"}, {"role": "assistant", "content": "good good day"}]
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"messages": messages}) + "\n")
    return path


def written(tmp_path: Path, text: str) -> str:
    (tmp_path / "own.jinja").write_text(text, encoding="utf-8")
    return str(tmp_path / "own.jinja")


def test_tokens_are_those_of_the_template(folder: Path, rows: Path, tmp_path: Path) -> None:
    plain = lint([str(rows)], Plan(tokenizer=str(folder)))
    longer = lint([str(rows)], Plan(tokenizer=str(folder), chat_template=written(tmp_path, LONGER)))
    # Two words more in each of two messages.
    assert plain.summary.tokens["sum"] == 9
    assert longer.summary.tokens["sum"] == 13
    assert lint([str(rows)], Plan(tokenizer=str(folder))).summary.tokens["sum"] == 9


def test_the_text_of_the_template_is_in_the_fingerprint_and_its_name_is_not(folder: Path, tmp_path: Path) -> None:
    own = locate(None, str(folder))
    one = locate(None, str(folder), chat_template=written(tmp_path, LONGER))
    Path(tmp_path / "copy.jinja").write_text(LONGER)
    assert locate(None, str(folder), chat_template=str(tmp_path / "copy.jinja")).fingerprint == one.fingerprint
    other = locate(None, str(folder), chat_template=written(tmp_path, LONGER + "\n"))
    assert len({own.fingerprint, one.fingerprint, other.fingerprint}) == 3


def test_a_template_that_marks_what_is_generated_is_one(folder: Path, tmp_path: Path) -> None:
    text = "{% for m in messages %}{% generation %}{{ m['content'] }}{% endgeneration %}{% endfor %}"
    processor = load(locate(None, str(folder), chat_template=written(tmp_path, text)))
    assert processor.render([{"role": "assistant", "content": "good"}]) == "good"


def test_what_is_no_template_is_said_in_a_line(folder: Path, rows: Path, tmp_path: Path) -> None:
    latin = tmp_path / "latin.jinja"
    latin.write_bytes(b"\xff\xfe\x00")
    for path, says in (
        (written(tmp_path, "good\n{% for m in messages %}{{ m }"), "no Jinja template.*line 2"),
        (str(tmp_path / "nothing.jinja"), "cannot be read: No such file"),
        (str(tmp_path), "cannot be read: Is a directory"),
        (str(latin), "cannot be read: it is no text in UTF-8"),
    ):
        with pytest.raises(UsageError, match=says) as raised:
            lint([str(rows)], Plan(tokenizer=str(folder), chat_template=path), use_cache=False)
        assert "\n" not in str(raised.value)
