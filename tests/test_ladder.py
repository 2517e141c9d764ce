"""Without a dataset: the memory of a step at many lengths, on the command line and from Python."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lint_dataset.ladder import context_length, ladder, lengths
from lint_dataset.memory import peak_bytes
from lint_dataset.plan import Plan
from lint_dataset.usage import UsageError
from tests.test_cli import run

MODEL = "Llama-3.2-1B"


@pytest.mark.parametrize(
    ("context", "rungs"),
    [(1000, [256, 512, 1000]), (1024, [256, 512, 1024]), (128, [128]), (256, [256])],
)
def test_lengths_double_up_to_the_context(context: int, rungs: list[int]) -> None:
    assert lengths(context) == rungs


def test_the_context_is_the_models_own() -> None:
    assert context_length(MODEL) == 131_072
    assert context_length("nobody/knows-it") is None


def test_a_folder_says_its_context_itself(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "llama", "max_position_embeddings": 4096}')
    assert context_length(str(tmp_path)) == 4096


def test_rungs_are_the_peaks_of_the_plan_and_what_fits_lies_between_two() -> None:
    plan = Plan(model=MODEL, budget="8GB")  # type: ignore[arg-type]
    found = ladder(plan)
    assert [rung.tokens for rung in found.rungs] == lengths(131_072)
    for rung in found.rungs:
        assert sum(rung.parts.values()) == rung.peak
        assert rung.low <= rung.peak <= rung.high
    unlimited = plan.but(budget=None)
    assert found.rungs[0].peak == peak_bytes(unlimited, 256)
    assert found.longest_that_fits is not None
    for rung in found.rungs:
        assert (rung.verdict(8 * 10**9) == "fits") == (rung.tokens <= found.longest_that_fits)


def test_without_a_model_or_a_program_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--model"):
        ladder(Plan())
    done = run("--model", "nobody/knows-it", cwd=tmp_path)
    assert done.returncode == 2
    assert "memory: " in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_on_the_command_line_it_needs_no_files(tmp_path: Path) -> None:
    done = run("--model", MODEL, "--budget", "8GB", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    table = [line.split() for line in done.stdout.splitlines() if line.split()[:1] == ["1,024"]]
    assert len(table) == 1
    assert table[0][-1] == "fits"
    assert "weights" in done.stdout
    # TRL's loss works in pieces: none of them is alive at the peak.
    assert "logits (chunked)" in done.stdout
    assert "is the longest that fits 8.0 GB" in done.stdout


def test_json_holds_plan_and_ladder(tmp_path: Path) -> None:
    arguments = ("--model", MODEL, "--device", "t4", "--output-format")
    report = json.loads(run(*arguments, "json", cwd=tmp_path).stdout)
    assert report["version"] == 1
    assert (report["plan"]["machine"], report["plan"]["budget"]) == ("t4", 14912 * 2**20)
    assert report["ladder"][0]["tokens"] == 256
    assert report["ladder"][-1]["tokens"] == report["context"] == 131_072
    assert any("bf16" in note for note in report["notes"])
    assert isinstance(report["longest_that_fits"], int)
    lines = run(*arguments, "jsonl", "--output", "rungs.jsonl", cwd=tmp_path)
    assert (lines.returncode, lines.stdout) == (0, "")
    rungs = [json.loads(line) for line in (tmp_path / "rungs.jsonl").read_text().splitlines()]
    assert [{"version": 1, **rung} for rung in report["ladder"]] == rungs


def test_a_config_whose_data_is_elsewhere_prints_the_ladder_and_is_not_clean(tmp_path: Path) -> None:
    (tmp_path / "axolotl.yml").write_text(
        f"base_model: {MODEL}\nadapter: lora\nlora_r: 16\nlora_target_linear: true\nbf16: true\nmicro_batch_size: 1\n"
        "sequence_len: 2048\ngradient_checkpointing: true\n"
        "datasets:\n  - path: data/not_here.jsonl\n    type: chat_template\n"
    )
    done = run(
        "--config", "axolotl.yml", "--trainer", "trl", "--loss", "logits", "--mixed-precision", "bf16", cwd=tmp_path
    )
    assert done.returncode == 2
    assert "not_here.jsonl" in done.stdout
    assert "weights" in done.stdout


def test_rows_of_examples_need_examples(tmp_path: Path) -> None:
    done = run("--model", MODEL, "--measurements", "rows.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert "--measurements" in done.stderr


def test_a_calibrated_ladder_shows_the_shift(tmp_path: Path) -> None:
    peak = peak_bytes(Plan(model=MODEL), 1024)
    shown = run("--model", MODEL, "--calibrate", f"{peak * 1.05 / 1e9}GB@1024", cwd=tmp_path).stdout
    assert "5.0 % more" in shown
    assert "calibration" in shown
    impossible = run("--model", MODEL, "--calibrate", "1GB@1024", cwd=tmp_path)
    assert impossible.returncode == 2
    assert len(impossible.stderr.splitlines()) == 1


def test_an_end_that_rounds_to_the_budget_is_said_to_be_over_it() -> None:
    from lint_dataset.ladder import Rung
    from lint_dataset.report.ladder import _between

    rung = Rung(1024, 38 * 10**9, 36 * 10**9 + 1, 41_600_000_000, {})
    assert _between(rung, 36 * 10**9) == "just over 36.0 and 41.6"
    assert _between(rung, None) == "36.0 and 41.6"
