"""The main job on real processors: files in, findings out, each against a slow check that shares nothing with us."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from lint_dataset import Plan, lint
from lint_dataset.cli import main
from tests import coaching
from tests.processors.exact import chat, ids_of
from tests.processors.test_counts import TEXTS


def conversations() -> list[list[dict[str, str]]]:
    # White space around an answer is no part of its span, and templates differ in whether they keep it.
    texts = [text.strip() for text in TEXTS]
    found = [chat("hi", text) for text in texts]
    found += [chat("hi", one, "and", two) for one, two in zip(texts[::2], texts[::-2], strict=True)]
    return found


@pytest.mark.parametrize(
    ("name", "end_of_turn"),
    [("gemma3n", "<end_of_turn>"), ("qwen3", "<|im_end|>"), ("llama3_1", "<|eot_id|>"), ("gemini", "<end_of_turn>")],
)
def test_verdicts_on_the_last_answer_equal_a_cut_of_the_librarys_own_tokens(
    name: str, end_of_turn: str, fetched: Callable[[str], Path], loaded: Callable[[str], Any], tmp_path: Path
) -> None:
    """The answer starts where the library's own generation prompt ends; five cuts around every edge of it."""
    processor = loaded(name)
    marker = processor.tokenizer.convert_tokens_to_ids(end_of_turn)
    expected: dict[tuple[int, int], tuple[str, int, bool] | None] = {}
    rows = conversations()
    limits_of_row = []
    for line, messages in enumerate(rows, 1):
        ids = ids_of(processor, messages)
        holder = processor.whole or processor.tokenizer
        before = holder.apply_chat_template(messages[:-1], tokenize=False, add_generation_prompt=True)
        start = len(processor.tokenizer(before, add_special_tokens=False)["input_ids"])
        if name == "qwen3":  # which puts an empty thought before the last answer
            thought = "<think>\n\n</think>\n\n"
            start += len(processor.tokenizer(thought, add_special_tokens=False)["input_ids"])
        end = len(ids) - 1 - ids[::-1].index(marker)
        limits = sorted({start - 1, start, start + 1, (start + end) // 2, end, end + 1})
        limits_of_row.append(limits)
        for limit in limits:
            kept = ids[:limit]
            if len(kept) <= start:
                expected[line, limit] = ("T001", end + 1 - start, True)
            elif len(kept) <= end:
                expected[line, limit] = ("T002", len(ids[len(kept) : end]), marker not in kept[start:])
            else:
                expected[line, limit] = None
    path = tmp_path / "train.jsonl"
    path.write_text("".join(json.dumps({"messages": messages}) + "\n" for messages in rows))
    folder = str(fetched(name))
    for limit in sorted({limit for limits in limits_of_row for limit in limits if limit > 0}):
        result = lint([str(path)], Plan(tokenizer=folder, max_length=limit, trainer="none"), select=["T"])
        found: dict[int, tuple[str, int, bool]] = {}
        for diagnostic in result.diagnostics:
            data = diagnostic.data
            if diagnostic.code == "T001" and data["of"] in data["answers"]:
                of_last = data["lost"] if len(data["answers"]) == 1 else -1
                found[diagnostic.line] = ("T001", of_last, True)
            elif diagnostic.code == "T002" and data["answer"] == data["of"]:
                found[diagnostic.line] = ("T002", data["lost"], data["end_of_turn_lost"])
        for line, limits in enumerate(limits_of_row, 1):
            if limit in limits:
                want, got = expected[line, limit], found.get(line)
                if got is not None and got[1] == -1 and want is not None:
                    got = (got[0], want[1], got[2])  # an earlier answer is lost as well: the sum is of both
                assert got == want, (rows[line - 1], limit)


def test_the_coaching_dataset_has_the_planted_findings_and_no_others(gemma3n_folder: Path, tmp_path: Path) -> None:
    planted = coaching.make(tmp_path)
    plan = Plan(tokenizer=str(gemma3n_folder), max_length=2048)
    result = lint([str(tmp_path / "train.jsonl")], plan)
    # Once a file, as notes: every row has a system message, and Gemma's template has no such role; and old loaders give
    # parts the keys of other parts; and a max_length given to the processor itself reaches the clips.
    notes = {(1, "M116"), (1, "J022"), (1, "A017")}
    assert {(d.line, d.code) for d in result.diagnostics} == {*notes, *planted.items()}
    assert {(d.line, d.code) for d in result.diagnostics if d.severity == "note"} == notes
    assert result.plan.trainer == "hf"
    assert "cannot train on audio" in result.notes[0]
    assert result.summary.examples == coaching.ROWS


def test_every_fault_of_a_clip_is_found_among_988_rows_and_nothing_else(gemma3n_folder: Path, tmp_path: Path) -> None:
    planted = coaching.make_full(tmp_path / "data")
    plan = Plan(tokenizer=str(gemma3n_folder), max_length=2048)
    result = lint([str(tmp_path / "data" / "train.jsonl")], plan, decode=True)
    wanted = {(line, code) for line, codes in planted.items() for code in codes}
    wanted |= {(1, code) for code in ("A017", "M116", "J022")}
    assert {(d.line, d.code) for d in result.diagnostics} == wanted
    assert len(result.diagnostics) == len(wanted), "one finding for all clips of a row that share a fault"
    assert result.summary.examples == coaching.FULL


def test_the_same_input_gives_the_same_output_to_the_byte(gemma3n_folder: Path, tmp_path: Path) -> None:
    from io import StringIO

    from lint_dataset.report import json as report

    coaching.make(tmp_path)
    plan = Plan(tokenizer=str(gemma3n_folder), max_length=512)
    pages = []
    for use_cache in (False, True, True):
        page = StringIO()
        report.write(lint([str(tmp_path)], plan, use_cache=use_cache), "x", page)
        pages.append(page.getvalue())
    assert pages[0] == pages[1] == pages[2]


def test_the_dataset_is_never_written_to(gemma3n_folder: Path, tmp_path: Path) -> None:
    coaching.make(tmp_path)
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.rglob("*") if path.is_file()}
    lint([str(tmp_path)], Plan(tokenizer=str(gemma3n_folder), max_length=512))
    assert before == {
        path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.rglob("*") if path.is_file()
    }


def test_lines_copied_away_from_their_clips_are_said(
    gemma3n_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    soundfile.write(tmp_path / "a.wav", np.zeros(16000), 16000)
    asked = {"role": "user", "content": [{"type": "audio", "audio": "a.wav"}]}
    row = {"messages": [asked, {"role": "assistant", "content": "A heron."}]}
    (tmp_path / "train.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "other").mkdir()
    for kept, said in (("kept.jsonl", False), ("other/kept.jsonl", True)):
        arguments = [str(tmp_path / "train.jsonl"), "--tokenizer", str(gemma3n_folder)]
        with pytest.raises(SystemExit):
            main([*arguments, "--cache-dir", str(tmp_path / "cache"), "--write-kept", str(tmp_path / kept)])
        assert ("looked for beside the file of their row" in capsys.readouterr().err) is said
