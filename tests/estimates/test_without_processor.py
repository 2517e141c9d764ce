"""A machine without the Hub: the main job is done with estimates, said first and marked, and never taken for counts."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lint_dataset.api import lint
from lint_dataset.cache import Cache
from lint_dataset.plan import Plan
from lint_dataset.result import Result

pytestmark = pytest.mark.usefixtures("no_hub")

MODEL = "gemma-3n-E2B"
SENTENCE = "The river rises in the hills and reaches the sea after four hundred miles. "


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Four rows: one that fits 1,000 tokens, two that certainly do not, one about which nobody can be sure."""
    rows = [
        ("What is a river?", "Water on its way."),
        (SENTENCE * 200, "An answer that comes far too late."),
        ("Tell me.", SENTENCE * 200),
        ("Tell me.", SENTENCE * 62 + "The end."),
    ]
    path = tmp_path / "train.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for question, answer in rows:
            messages = [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
            file.write(json.dumps({"messages": messages}) + "\n")
    return path


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lint_dataset", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def found(result: Result) -> dict[int, list[tuple[str, str]]]:
    by_line: dict[int, list[tuple[str, str]]] = {}
    for diagnostic in result.diagnostics:
        by_line.setdefault(diagnostic.line, []).append((diagnostic.code, diagnostic.severity))
    return by_line


def test_rows_are_certainly_or_possibly_cut(data: Path) -> None:
    likely = lint([str(data)], Plan(model=MODEL)).rows.column("tokens").to_pylist()[3]
    result = lint([str(data)], Plan(model=MODEL, max_length=likely - 5))
    assert found(result) == {2: [("T001", "error")], 3: [("T002", "error")], 4: [("T002", "warning")]}
    result = lint([str(data)], Plan(model=MODEL, max_length=likely + 5))
    # Likely it fits, and it may not.
    assert found(result)[4] == [("T002", "warning")]
    assert not result.unjudged


def test_a_budget_is_judged(data: Path) -> None:
    generous = lint([str(data)], Plan(model=MODEL, budget=80 * 10**9, max_length=10**5))
    assert generous.summary.longest_row is not None
    assert found(generous) == {}
    tight = lint([str(data)], Plan(model=MODEL, budget=generous.summary.longest_row.peak - 10**9, max_length=10**5))
    assert {code for own in found(tight).values() for code, _ in own} <= {"O001", "O003"}


def test_the_ends_of_the_estimate_are_in_the_rows(data: Path) -> None:
    rows = lint([str(data)], Plan(model=MODEL)).rows.to_pylist()
    assert all(row["tokens_low"] <= row["tokens"] <= row["tokens_high"] for row in rows)
    assert all(row["tokens_low"] < row["tokens_high"] for row in rows[1:])


def test_the_report_says_it_first_and_marks_every_figure(data: Path) -> None:
    report = run(data, "--model", MODEL, "--max-length", "1000")
    assert report.returncode == 1
    first, *lines = report.stdout.splitlines()
    assert first.startswith("note: tokens (≈) are estimated as the gemma family counts")
    assert first.count(". ") == 1  # two sentences
    assert len(first) < 480
    assert "Errno" not in first
    assert re.search(r"run `[^`]*google/gemma-3n-E2B-it", first)
    (late,) = [line for line in lines if line.startswith(f"{data}:2: T001")]
    assert "≈" in late
    (tokens,) = [line for line in lines if line.startswith("tokens ")]
    assert tokens.count("≈") == 6


def test_json_says_that_tokens_are_estimated(data: Path) -> None:
    report = json.loads(run(data, "--model", MODEL, "--max-length", "1000", "--output-format", "json").stdout)
    assert report["estimated"]["family"] == "gemma"
    assert 0.01 < report["estimated"]["width"] < 0.4
    assert all(one["data"]["estimated"] for one in report["diagnostics"] if one["code"].startswith("T"))


def test_exact_stops_and_names_the_command(data: Path) -> None:
    report = run(data, "--model", MODEL, "--max-length", "1000", "--tokens", "exact")
    assert report.returncode == 2
    assert re.search(r"run `[^`]*google/gemma-3n-E2B-it", report.stdout)
    assert "≈" not in report.stdout


@pytest.mark.parametrize("name", ["my-org/my-model", "gemma-3n-E2"])
def test_a_tokenizer_that_nothing_is_known_of_is_not_guessed_at(data: Path, name: str) -> None:
    result = lint([str(data)], Plan(model=name, max_length=1000))
    assert result.unjudged
    assert result.estimated is None
    assert result.diagnostics == ()


def test_possible_findings_do_not_fail_a_run_unless_warnings_do(data: Path) -> None:
    rows = lint([str(data)], Plan(model=MODEL)).rows.to_pylist()
    data.write_text(data.read_text(encoding="utf-8").splitlines()[3] + "\n", encoding="utf-8")
    limit = str(rows[3]["tokens"] - 1)
    assert run(data, "--model", MODEL, "--max-length", limit).returncode == 0
    assert run(data, "--model", MODEL, "--max-length", limit, "--fail-on", "warning").returncode == 1


def test_media_that_cannot_be_estimated_are_said_not_to_be_judged(data: Path) -> None:
    image = {"role": "user", "content": [{"type": "image", "image": "a.png"}]}
    row = {"messages": [image, {"role": "assistant", "content": "A cat."}]}
    data.write_text(json.dumps(row) + "\n", encoding="utf-8")
    result = lint([str(data)], Plan(tokenizer="Qwen/Qwen2.5-7B-Instruct", max_length=1000))
    assert any("1 examples with clips or images" in sentence for sentence in result.unjudged)
    assert not any("estimated" in note for note in result.notes)  # no row was


def test_estimates_are_not_remembered(data: Path, tmp_path: Path) -> None:
    lint([str(data)], Plan(model=MODEL), cache_dir=str(tmp_path / "cache"))
    path = Cache(tmp_path / "cache").path
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM measured").fetchone() == (0,)


def test_a_processor_takes_over_when_there_is_one(data: Path, gemma3n_folder: Path) -> None:
    guess = lint([str(data)], Plan(model=MODEL))
    real = lint([str(data)], Plan(model=MODEL, tokenizer=str(gemma3n_folder)))
    assert real.estimated is None
    assert not any("≈" in note for note in real.notes)
    for row, exact in zip(guess.rows.to_pylist(), real.rows.to_pylist(), strict=True):
        assert exact["tokens_low"] == exact["tokens"] == exact["tokens_high"]
        assert row["tokens_low"] <= exact["tokens"] <= row["tokens_high"]


def test_bad_rows_are_found_as_they_always_are(data: Path, loaded_nothing: Callable[[], Any]) -> None:
    with data.open("a", encoding="utf-8") as file:
        file.write("{not json\n")
    result = lint([str(data)], Plan(model=MODEL, max_length=10_000))
    assert next(code for code, _ in found(result)[5]).startswith("J")
    loaded_nothing()


@pytest.fixture
def loaded_nothing() -> Callable[[], None]:
    """Whether transformers is left alone."""
    before = "transformers" in sys.modules

    def check() -> None:
        assert ("transformers" in sys.modules) == before

    return check


@pytest.mark.parametrize("model", [MODEL, "Qwen3-0.6B", "someone/unknown-7B"])
def test_clips_are_looked_at_as_asked_whoever_counts_the_tokens(model: str, tmp_path: Path) -> None:
    with wave.open(str(tmp_path / "silent.wav"), "wb") as clip:
        clip.setparams((1, 2, 16000, 0, "NONE", ""))
        clip.writeframes(bytes(2 * 16000))
    rows = [
        [
            {"role": "user", "content": [{"type": "audio", "path": name}, {"type": "text", "text": "What is said?"}]},
            {"role": "assistant", "content": "Nothing."},
        ]
        for name in ("silent.wav", "missing.wav")
    ]
    path = tmp_path / "train.jsonl"
    path.write_text("".join(json.dumps({"messages": row}) + "\n" for row in rows))
    for decode, silent in ((False, []), (True, ["A010"])):
        result = lint([str(path)], Plan(model=model), select=["A"], decode=decode)
        codes = [(finding.line, finding.code) for finding in result.diagnostics]
        assert codes == [*((1, code) for code in silent), (2, "A002")]
