"""The script for a machine with a GPU, on the CPU with a tiny model: the same code up to the figures."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from lint_dataset.memory.measured_runs import Case, express
from tests.gpu.measure_peaks import COLUMNS, main, runs

DATA = Path(__file__).parent.parent / "data" / "measured.csv"
LLAMA = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 1024,
    "tie_word_embeddings": True,
}
GEMMA_3N = {
    "model_type": "gemma3n",
    "architectures": ["Gemma3nForConditionalGeneration"],
    "text_config": {
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        # Text, then the ids of images, then those of audio.
        "vocab_size": 1280,
        "vocab_size_per_layer_input": 1024,
        "hidden_size_per_layer_input": 16,
        "num_kv_shared_layers": 2,
        "layer_types": ["sliding_attention", "full_attention"] * 2,
        "laurel_rank": 8,
        "activation_sparsity_pattern": [0.0] * 4,
        "sliding_window": 64,
        "altup_num_inputs": 2,
    },
    "audio_config": {
        "hidden_size": 64,
        "conf_num_attention_heads": 4,
        "conf_num_hidden_layers": 2,
        "vocab_size": 128,
        "vocab_offset": 1152,
    },
    "vision_config": {"vocab_offset": 1024, "hidden_size": 64},
    "audio_token_id": 1153,
    "image_token_id": 1025,
}


@pytest.mark.parametrize("method", ["lora", "full"])
def test_a_run_writes_a_row_that_validation_reads(tmp_path: Path, method: str) -> None:
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    output = tmp_path / "measured.csv"
    run = {"model": str(tmp_path), "method": method, "batch": 2, "tokens": 16, "device": "cpu"}
    assert main([str(output), "--run", json.dumps(run)]) == 0
    with output.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 1
    assert (rows[0]["method"], rows[0]["batch"], rows[0]["seq_len"]) == (method, "2", "16")
    # The figures are the card's: none here. All else is said as the validation set says it.
    assert rows[0]["peak_mem_GB"] == ""
    case = express({**rows[0], "model": "Llama-3.2-1B", "device": "NVIDIA H200 (143,771 MiB)", "peak_mem_GB": "1.5"})
    assert isinstance(case, Case)
    assert case.measured == {"allocated": 1.5e9}
    assert (case.device, case.recipe.method, case.recipe.dtype) == ("h200", method, "bf16")


def test_gemma_3n_hears_its_clips(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(GEMMA_3N))
    output = tmp_path / "measured.csv"
    run = {"model": str(tmp_path), "batch": 2, "tokens": 200, "clips": 1, "seconds": 5.0, "device": "cpu"}
    assert main([str(output), "--run", json.dumps(run)]) == 0
    assert "clips=1; seconds=5.0" in output.read_text()


def test_a_clip_is_part_of_the_case() -> None:
    row = {**dict.fromkeys(COLUMNS, ""), "model": "gemma-3n-E2B", "method": "lora", "lora_rank": "16", "batch": "2"}
    row |= {"lora_targets": "q_proj", "weights_dtype": "bf16", "compute_dtype": "bf16", "seq_len": "1024"}
    row |= {"seq_len_definition": "exact", "device": "NVIDIA H200 (143,771 MiB)", "notes": "clips=1; seconds=5.0"}
    case = express(row)
    assert isinstance(case, Case)
    assert (case.clips, case.seconds) == (2, 5.0)


def test_its_columns_are_those_of_the_validation_set() -> None:
    with DATA.open(newline="") as file:
        assert next(csv.reader(file)) == COLUMNS


def test_the_plan_of_runs_covers_what_nobody_measured() -> None:
    planned = list(runs())
    assert len(set(planned)) == len(planned)
    assert {run.method for run in planned} == {"full", "lora", "qlora"}
    assert {run.seconds for run in planned if run.clips and run.checkpointing} == {1.0, 5.0, 15.0, 30.0}
    assert any(run.batch == 1 and not run.checkpointing for run in planned)
    assert all(run.tokens > 188 * run.clips for run in planned)
