"""Predictions against peaks that others measured on real cards: see tests/data/README.md."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest

from lint_dataset.memory import evidence
from lint_dataset.memory.measured_runs import Case, express
from lint_dataset.memory.validate import Comparison, compare, main, predict, spread, table

DATA = Path(__file__).parent.parent / "data" / "measured.csv"


def rows(name: str = "measured.csv") -> list[dict[str, str]]:
    with DATA.with_name(name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def cases(method: str, device: str, attention: str = "sdpa") -> list[Case]:
    """The runs of one kind: with the fused kernels, which are what a plan has on CUDA, unless otherwise asked."""
    found = [case for case in map(express, rows()) if isinstance(case, Case)]
    chosen = [c for c in found if c.group == f"{method}, {attention}, {device}" and not c.died]
    return sorted(chosen, key=lambda c: (c.recipe.key, c.recipe.model, c.loop, c.batch, c.tokens))


def errors(comparisons: list[Comparison], what: str) -> list[float]:
    found = [one.error for one in comparisons if one.what == what]
    assert found
    return found


def mean(values: list[float]) -> float:
    return sum(map(abs, values)) / len(values)


def compared(runs: list[Case]) -> list[Comparison]:
    return [one for case in runs for one in compare(case)]


@pytest.mark.parametrize(("method", "device"), [("lora", "T4"), ("lora", "A6000"), ("full", "A6000")])
def test_runs_without_quantisation_are_predicted_to_a_fraction_of_a_percent(method: str, device: str) -> None:
    comparisons = compared(cases(method, device))
    assert len(comparisons) >= 6
    assert mean(errors(comparisons, "allocated")) < 0.1
    assert max(map(abs, errors(comparisons, "allocated"))) < 0.5
    if device == "T4":
        assert max(map(abs, errors(comparisons, "reserved"))) < 0.3
        assert max(map(abs, errors(comparisons, "process"))) < 0.3
    assert_within_evidence(method, comparisons)


def test_eager_attention_reserves_what_the_replay_does() -> None:
    """Scores come and go in pieces of many sizes: what is reserved depends on which free block is taken."""
    eager = [c for c in cases("lora", "T4", "eager") if "SmolLM2-135M" in c.model or "TinyLlama" in c.model]
    assert max(map(abs, errors(compared(eager), "reserved"))) < 0.3


def test_qlora_runs_are_predicted_within_their_band() -> None:
    chosen = ("SmolLM2-135M", "deepseek", "Llama-3.2-1B")
    runs = [case for case in cases("qlora", "T4") if case.model.startswith(chosen) or case.batch == 12]
    comparisons = compared(runs)
    assert mean(errors(comparisons, "allocated")) < 0.3
    assert max(map(abs, errors(comparisons, "allocated"))) < 1
    assert mean(errors(comparisons, "reserved")) < 4
    assert_within_evidence("qlora", comparisons)


def assert_within_evidence(method: str, comparisons: list[Comparison]) -> None:
    known = evidence.MEASURED[method, "logits", "cuda"]
    for one in comparisons:
        assert -known.low - 0.01 <= one.error <= known.high + 0.01, one


def test_runs_that_ran_out_of_memory_do_so_in_the_replay_and_smaller_ones_do_not() -> None:
    expressed = [case for case in map(express, rows()) if isinstance(case, Case) and case.card is not None]
    assert sum(case.died for case in expressed) == 4
    for case in sorted(expressed, key=lambda c: (c.model, c.batch)):
        if case.model.startswith(("Llama-3.2-1B", "Qwen2.5-7B")):
            assert (predict(case) is None) == case.died, case.label


def test_how_far_loading_threads_are_ahead_widens_what_may_be_reserved() -> None:
    one = next(case for case in cases("qlora", "T4") if case.model == "SmolLM2-135M")
    ends, alone = spread(one), predict(one, 0)
    assert ends is not None
    assert alone is not None
    assert ends[0] <= alone["reserved"] <= ends[1]
    assert spread(cases("lora", "T4")[0]) is None


def test_rows_that_cannot_be_expressed_say_why() -> None:
    row = rows()[0]
    assert isinstance(express(row), Case)
    assert "not exact" in express({**row, "seq_len_definition": "cap only"})  # type: ignore[operator]
    assert "adapter" in express({**row, "method": "adapter"})  # type: ignore[operator]
    assert "MLX" in express({**row, "source_repo": "ml-explore/mlx-lm"})  # type: ignore[operator]
    assert "no configuration" in express({**row, "model": "nobody/knows"})  # type: ignore[operator]


def near(source: str, **chosen: str) -> Case:
    """The run of a source of which something is known to differ from what is traced, by some of its columns."""
    for row in rows("measured_near.csv"):
        if source in row["source_repo"] and all(row[name] == value for name, value in chosen.items()):
            case = express(row)
            assert isinstance(case, Case)
            return case
    raise AssertionError(chosen)


def test_runs_that_are_known_to_differ_are_compared_beneath_what_differs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = [row for row in rows("measured_near.csv") if row["model"] == "llama-3.2-1b" and row["method"] == "lora"]
    path = tmp_path / "rows.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, chosen[0])
        writer.writeheader()
        writer.writerows([*chosen, {**chosen[0], "model": "nobody/knows"}])
    assert main([str(path)]) == 0
    said = capsys.readouterr().out
    assert "litgpt's own models: " in said
    assert "predicted   4.2" in said
    assert "1 of 2 rows cannot be expressed" in said
    assert "no configuration for nobody/knows" in said
    # They are no errors of the prediction.
    assert "mean |error|" not in said


def test_a_whole_run_with_another_implementation_of_the_model_holds_what_is_traced() -> None:
    """torchtune's Llama-3.2-3B, 2 x 4,096 packed tokens, no checkpointing."""
    found = list(compare(near("torchtune")))
    assert [one.what for one in found] == ["allocated"]
    assert abs(found[0].error) < 0.5


def test_what_peft_measured_is_expressed_with_its_variants() -> None:
    assert near("peft", method="full").measured == {"reserved": 38.869e9}
    chosen = [case for case in map(express, rows("measured_near.csv")) if isinstance(case, Case) and case.recipe.dora]
    assert {case.tokens for case in chosen} == {768}
    row = {**rows("measured_near.csv")[0], "optimizer": "lora-fa", "notes": "name=lora--rank32-lorafa; trainable=1"}
    assert express(row) == "a variant of LoRA that is not traced: lorafa"


def test_the_table_groups_errors_and_signs_them() -> None:
    case = next(case for case in map(express, rows()) if isinstance(case, Case))
    lines = table([Comparison(case, "allocated", 110.0, 100.0), Comparison(case, "allocated", 95.0, 100.0)])
    assert case.group in lines[1]
    assert "7.50 %" in lines[1]
    assert "-5.00 %" in lines[1]
    assert "+10.00 %" in lines[1]


def test_a_file_that_is_not_there_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nowhere.csv"]) == 2
    assert "nowhere.csv" in capsys.readouterr().err
    assert main([]) == 2


def test_without_torch_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert main([str(DATA)]) == 2
    assert "pip install 'lint-dataset[trace]'" in capsys.readouterr().err
