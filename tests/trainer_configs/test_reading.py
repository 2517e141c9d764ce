"""Files that are no configuration, values that cannot be, and which trainer a file is for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from lint_dataset.cli import main
from lint_dataset.plan import PlanError, resolve
from lint_dataset.trainer_configs import TrainerConfig, TrainerConfigError, load
from lint_dataset.trainer_configs.commands import commands
from lint_dataset.trainer_configs.registry import all_formats


def written(folder: Path, text: str, name: str = "config.yml") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def config(folder: Path, text: str, name: str = "config.yml") -> TrainerConfig:
    return load(written(folder, text, name))


def remarks(of: TrainerConfig, kind: str) -> dict[str, str]:
    return {remark.key: remark.text for remark in of.remarks if remark.kind == kind}


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("broken.yml", b"base_model: [a\nlora_r: 1\n", "line 2"),
        ("two.yml", b"base_model: a\n---\nbase_model: b\n", "YAML"),
        ("list.yml", b"- base_model\n", "no mapping"),
        ("text.yml", b"base_model\n", "no mapping"),
        ("empty.yml", b"", "no mapping"),
        ("object.yml", b"base_model: !!python/object:os.system x\n", "YAML"),
        ("deep.yml", b"[" * 5000, "nested too deeply"),
        ("date.yml", b"base_model: 2020-99-99\n", "YAML"),
        ("bytes.yml", b"base_model: \xff\n", "UTF-8"),
        ("broken.json", b'{"base_model": ', "JSON"),
        ("deep.json", b"[" * 100_000, "nested too deeply"),
        ("list.json", b"[1]", "no mapping"),
        ("other.yml", b"services: {web: {image: x}}\n", "no key"),
        ("other.sh", b"rsync --archive a b\n", "no key"),
        ("missing.sh", b"llamafactory-cli train gone.yaml\n", "gone.yaml, which is not there"),
        ("twice.sh", b"trl sft --max_length 8\ntrl sft --max_length 9\n", "starts 2 trainings"),
        ("large.yml", b"#" * (2**20 + 1), "too large"),
        ("both.yaml", b"model_name_or_path: a\ndataset_name: b\n", "--config transformers:"),
    ],
)
def test_what_cannot_be_read_is_one_line_and_status_2(
    tmp_path: Path, name: str, content: bytes, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(SystemExit) as left:
        main(["--config", str(path), "--show-plan"])
    error = capsys.readouterr().err
    assert left.value.code == 2
    assert error.count("\n") == 1
    assert name in error
    assert says in error


@pytest.mark.parametrize("path", ["gone.yml", "."])
def test_a_file_that_is_not_there_is_one_line_and_status_2(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--config", path])
    error = capsys.readouterr().err
    assert (left.value.code, error.count("\n")) == (2, 1)


def test_the_name_of_a_format_decides_where_the_keys_do_not(tmp_path: Path) -> None:
    path = written(tmp_path, "model_name_or_path: Qwen/Qwen2.5-1.5B-Instruct\ndataset_name: a/b\n")
    trl, hf = load(f"trl:{path}"), load(f"transformers:{path}")
    assert (trl.format, trl.settings["loss"], hf.format, hf.settings["loss"]) == (
        *("trl", "chunked"),
        *("transformers", "logits"),
    )


def test_the_command_line_wins_over_the_trainers_file_and_that_over_ours(tmp_path: Path) -> None:
    theirs = config(tmp_path, "base_model: m\nsequence_len: 4096\nmicro_batch_size: 2\n", "axolotl.yml")
    plan = resolve({"max_length": 100}, {"max_length": 7, "batch_size": 3, "budget": "36GB"}, trainer_config=theirs)
    assert (plan.max_length, plan.origins["max_length"]) == (100, "command line")
    assert (plan.batch_size, plan.origins["batch_size"]) == (2, "axolotl.yml")
    assert (plan.budget, plan.origins["budget"]) == (36 * 10**9, "pyproject.toml")


def test_no_limit_in_the_trainers_file_is_no_limit(tmp_path: Path) -> None:
    theirs = config(tmp_path, "max_length:\nmodel_name_or_path: m\nassistant_only_loss: true\n", "sft.yaml")
    plan = resolve({}, {"max_length": 7}, trainer_config=theirs)
    assert (plan.max_length, plan.origins["max_length"]) == (None, "sft.yaml")


def test_a_default_of_the_trainer_says_whose_it_is(tmp_path: Path) -> None:
    theirs = config(tmp_path, "stage: sft\nmodel_name_or_path: m\n", "lf.yaml")
    plan = resolve({}, {}, trainer_config=theirs)
    assert (plan.max_length, plan.origins["max_length"]) == (2048, "lf.yaml (LLaMA-Factory 0.9.5)")


def test_a_value_that_is_not_understood_is_listed_and_not_guessed_at(tmp_path: Path) -> None:
    theirs = config(
        tmp_path,
        "base_model: m\nsequence_len: long\nmicro_batch_size: -1\ngradient_checkpointing: maybe\nlora_r: [1]\n",
    )
    assert set(remarks(theirs, "not understood")) == {
        *("sequence_len", "micro_batch_size", "gradient_checkpointing", "lora_r")
    }
    assert "long is not a whole number" in remarks(theirs, "not understood")["sequence_len"]
    # The trainer's defaults hold, as if nothing had been said.
    assert (theirs.settings["max_length"], theirs.settings["batch_size"]) == (512, 1)


def test_a_remark_is_one_line_whatever_the_file_holds(tmp_path: Path) -> None:
    theirs = config(tmp_path, 'base_model: m\n"a\\nb\\e[2J": 1\nadapter: "x\\ny"\nrl: ' + "long" * 500 + "\n")
    assert list(remarks(theirs, "unknown")) == ["a b?[2J"]
    assert remarks(theirs, "not modelled")["adapter"] == "x y: judged as LoRA"
    assert all(len(line) < 400 and "\n" not in line for line in theirs.notes())


def test_a_key_without_a_value_is_as_if_it_were_not_there(tmp_path: Path) -> None:
    theirs = config(tmp_path, "base_model: m\nadapter:\nlora_r:\nsample_packing:\ndeepspeed:\n")
    assert theirs.settings["method"] == "full"
    assert remarks(theirs, "not modelled") == {}


@pytest.mark.parametrize(
    ("text", "method", "dtype", "autocast"),
    [
        ("base_model: m\nbf16: full\n", "full", "bf16", "no"),
        ("base_model: m\nfp16: true\nbf16: auto\n", "full", "fp16", "fp16"),
        ("base_model: m\nfloat16: true\nbf16: false\n", "full", "fp16", "no"),
        ("base_model: m\nbf16: false\n", "full", "fp32", "no"),
        ("stage: sft\nbf16: true\n", "lora", "bf16", "bf16"),
        ("stage: sft\nfp16: true\n", "lora", "fp16", "fp16"),
        ("max_length: 8\nmodel_name_or_path: m\nbf16: false\n", "full", "fp32", "no"),
    ],
)
def test_weights_and_autocast_follow_the_trainers_switches(
    tmp_path: Path, text: str, method: str, dtype: str, autocast: str
) -> None:
    settings = config(tmp_path, text).settings
    assert [settings[name] for name in ("method", "dtype", "mixed_precision")] == [method, dtype, autocast]


def test_a_fused_loss_without_its_plugin_is_said_to_have_no_effect(tmp_path: Path) -> None:
    theirs = config(tmp_path, "base_model: m\nliger_fused_linear_cross_entropy: true\n")
    assert theirs.settings["loss"] == "logits"
    assert "plugin" in remarks(theirs, "note")["liger_fused_linear_cross_entropy"]


@pytest.mark.parametrize(
    ("line", "loss", "noted"),
    [
        ("loss_type: nll", "chunked", {"loss_type"}),
        ("loss_type: dft", "chunked", set()),
        ("use_liger_kernel: true", "chunked", {"use_liger_kernel"}),
        ("label_smoothing_factor: 0.1", "logits", set()),
    ],
)
def test_trl_holds_no_logits_but_for_smoothed_labels(tmp_path: Path, line: str, loss: str, noted: set[str]) -> None:
    theirs = config(tmp_path, f"model_name_or_path: m\nmax_length: 8\n{line}\n")
    assert theirs.settings["loss"] == loss
    assert set(remarks(theirs, "note")) == noted


def test_a_script_is_read_with_its_own_variables_and_no_others(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("MODEL", "from the machine")
    theirs = config(tmp_path, "LEN=77\ntrl sft --model_name_or_path $MODEL --max_length ${LEN} --lr_x $X\n", "run.sh")
    assert theirs.settings["max_length"] == 77
    assert "model" not in theirs.settings
    assert "$MODEL is not a text" in remarks(theirs, "not understood")["model_name_or_path"]


def test_bare_arguments_are_a_command_line_too(tmp_path: Path) -> None:
    theirs = config(tmp_path, "--model_name_or_path m\n--max_length 64\n".replace("\n", " "), "arguments.txt")
    assert (theirs.format, theirs.settings["model"], theirs.settings["max_length"]) == ("trl", "m", 64)


def test_another_kind_of_training_is_said(tmp_path: Path) -> None:
    theirs = config(tmp_path, "trl dpo --model_name_or_path m --max_length 64\n", "dpo.sh")
    assert "supervised" in remarks(theirs, "note")["dpo"]


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("x --a 1 --b=2 --c", {"a": "1", "b": "2", "c": True}),
        ("x --a-b 'c d' \\\n --no_e -f -1", {"a_b": "c d", "e": False, "f": "-1"}),
        ("A=1 x --a q k v ; y --b 1 | z", {"a": ["q", "k", "v"]}),
        ("x --a '<|im_end|>' # --b 2", {"a": "<|im_end|>"}),
        ("x --a '{\"k\": 1}'", {"a": '{"k": 1}'}),
        ("x --a ${B:-7}", {"a": "7"}),
    ],
)
def test_the_shell_of_training_scripts_is_understood(line: str, options: dict[str, Any]) -> None:
    assert commands(line)[0].options == options


_KEYS = sorted({key for each in all_formats().values() for key in each.marks | each.last} | {"model", "dtype", "optim"})
_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
_SCALARS |= st.sampled_from(["auto", "full", "lora", "qlora", "true", "q_proj", "$X", "."])
_VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.integers(), inner)
)


@settings(max_examples=50)
@given(st.dictionaries(st.sampled_from(_KEYS), _VALUES, max_size=12), st.sampled_from(sorted(all_formats())))
def test_whatever_the_values_are_a_file_becomes_a_plan_or_one_line(
    tmp_path_factory: pytest.TempPathFactory, keys: dict[str, Any], name: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yml"
    path.write_text(yaml.safe_dump(keys), encoding="utf-8")
    said = []
    try:
        theirs = load(f"{name}:{path}")
        said = [*theirs.notes(), *theirs.unread()]
        resolve({}, {}, trainer_config=theirs)
    except (TrainerConfigError, PlanError) as problem:
        said.append(str(problem))
    assert all("\n" not in line for line in said)


def test_it_may_stand_in_our_own_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path, "max_length: 64\n", "sft.yaml")
    written(tmp_path, '[tool.lint-dataset]\nconfig = "sft.yaml"\nmax-length = 7\n', "pyproject.toml")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left:
        main(["--show-plan"])
    [line] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("max-length")]
    assert (line.split(), left.value.code) == (["max-length", "64", "sft.yaml"], 0)


def test_the_documented_keys_are_known(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "configs.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("|")]
    start = next(i for i, row in enumerate(rows) if row[0] == "setting")
    names = [name.casefold() for name in rows[start][1:]]
    checked = 0
    for row in [row for row in rows[start + 2 :] if len(row) == len(rows[start])]:
        for name, cell in zip(names, row[1:], strict=True):
            for key in re.findall(r"`([a-z_0-9]+)(?=[`.]|: )", cell):
                if key not in ("dataset_info", "type", "train"):
                    theirs = load(f"{name}:{written(tmp_path, f'{key}: 1')}")
                    assert key not in remarks(theirs, "unknown"), (name, key)
                    checked += 1
    assert checked > 60


def test_a_run_takes_the_data_from_the_file_and_says_what_was_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.jsonl").write_text('{"text": "a"}\n{bad\n', encoding="utf-8")
    path = written(
        tmp_path,
        "max_length: 64\npacking: true\nsurprise: 1\ndatasets:\n  - {path: train.jsonl}\n  - {path: b.jsonl}\n",
        "sft.yaml",
    )
    with pytest.raises(SystemExit) as left:
        main(["--config", path])
    out = capsys.readouterr().out
    assert "train.jsonl:2" in out
    assert "ignored: surprise" in out
    assert "not judged: sft.yaml: datasets: b.jsonl is not on this machine" in out
    assert left.value.code == 2


def test_a_file_that_names_no_data_here_asks_for_paths(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "max_length: 64\ndataset_name: b.jsonl\n", "sft.yaml")
    with pytest.raises(SystemExit) as left:
        main(["--config", path])
    error = capsys.readouterr().err
    assert (left.value.code, error.count("\n")) == (2, 1)
    assert "b.jsonl is not on this machine" in error


@pytest.mark.parametrize(
    ("text", "datasets"),
    [
        ("dataset_name: a/b\n", ["hf:a/b:train"]),
        ("dataset_name: a/b\ndataset_config: en\ndataset_train_split: train_sft\n", ["hf:a/b:en:train_sft"]),
        ("datasets:\n  - {path: a/b, name: en}\n  - {path: a/c, split: test}\n", ["hf:a/b:en:train", "hf:a/c:test"]),
        ("datasets:\n  - {path: a/b, data_files: x/y.jsonl}\n", ["hf://datasets/a/b/x/y.jsonl"]),
        ("dataset_name: ./a/b\n", []),
        ("dataset_name: a/b.parquet\n", []),
    ],
)
def test_data_sets_of_the_hub_are_sources(tmp_path: Path, text: str, datasets: list[str]) -> None:
    found = load(written(tmp_path, f"max_length: 64\n{text}", "sft.yaml"))
    assert list(found.datasets) == datasets
    assert bool(remarks(found, "not read")) == (not datasets)


def test_a_part_of_a_split_is_said(tmp_path: Path) -> None:
    text = "max_length: 64\ndataset_name: a/b\ndataset_train_split: 'train[:10%]'\n"
    found = load(written(tmp_path, text, "sft.yaml"))
    assert found.datasets == ("hf:a/b:train",)
    assert any("train[:10%] is trained on" in note for note in found.notes())


def test_a_chat_template_that_is_a_file_is_the_plans(tmp_path: Path) -> None:
    (tmp_path / "mine.jinja").write_text("{{ messages }}", encoding="utf-8")
    found = load(written(tmp_path, "max_length: 64\nchat_template_path: mine.jinja\n", "sft.yaml"))
    assert found.settings["chat_template"] == str(tmp_path / "mine.jinja")
    other = load(written(tmp_path, "max_length: 64\nchat_template_path: Qwen/Qwen3-8B\n", "sft.yaml"))
    assert "chat_template" not in other.settings
    assert "chat_template_path" in remarks(other, "not modelled")
