"""The command line as people meet it: exit status, one line for what cannot be, reports that tools can read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

GOOD = '{"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]}\n'


def run(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lint_dataset", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), **environment},
    )


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["train.jsonl", "--budget", "36"], "36GB"),
        (["train.jsonl", "--method", "dora"], "--method"),
        (["train.jsonl", "--max-length", "0"], "max-length"),
        (["train.jsonl", "--max-length", "many"], "--max-length"),
        (["train.jsonl", "--batch-size", "-1"], "batch-size"),
        (["train.jsonl", "--select", "X9"], "X9"),
        (["train.jsonl", "--measurements", "out.xlsx"], ".parquet"),
        (["train.jsonl", "--measurements", "train.jsonl"], "train.jsonl"),
        (["train.jsonl", "--output", "train.jsonl"], "train.jsonl"),
        (["train.jsonl", "--output", "no/such/folder/report.txt"], "report.txt"),
        (["train.jsonl", "--format", "share-gpt"], "sharegpt, swift-pairs, text"),
        (["train.jsonl", "--columns", "mesages=dialog"], "messages"),
        (["train.jsonl", "--columns", "messages=a,conversations=a"], "'a'"),
        (["train.jsonl", "--select", "J", "--ignore", "J0"], "no rule is left"),
        (["train.jsonl", "--write-kept", "-"], "--write-kept"),
        (["train.jsonl", "--write-baseline", "-"], "--write-baseline"),
        (["train.jsonl", "--no-such-option"], "--no-such-option"),
        (["--explain", "X999"], "X999"),
        (["train.jsonl", "--show-plan", "--write-kept", "kept.jsonl"], "--write-kept"),
        (["--list-rules", "--output-format", "jsonl"], "json here"),
        (["--model", "gemma-3n-E2B", "--budget", "36GB", "--output-format", "sarif"], "sarif"),
        ([], "train.jsonl"),
    ],
)
def test_what_cannot_be_is_one_line_and_status_2(arguments: list[str], names: str, tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(GOOD)
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert names in done.stderr
    assert (tmp_path / "train.jsonl").read_text() == GOOD


def test_columns_of_other_names_and_a_forced_format(tmp_path: Path) -> None:
    row = '{"dialog": [{"who": "human", "says": "hi"}, {"who": "bot", "says": "yo"}]}'
    (tmp_path / "train.jsonl").write_text(f"{row}\n")
    named = ("--columns", "messages=dialog,role=who,content=says")
    assert run("train.jsonl", *named, cwd=tmp_path).returncode == 0
    (tmp_path / "pyproject.toml").write_text(
        '[tool.lint-dataset.columns]\nmessages = "dialog"\nrole = "who"\ncontent = "says"\n'
    )
    assert run("train.jsonl", cwd=tmp_path).returncode == 0
    done = run("train.jsonl", "--format", "alpaca", cwd=tmp_path)
    assert done.returncode == 1
    assert "train.jsonl:1: S016 no alpaca row, as --format says: it lacks" in done.stdout


def test_status_follows_the_findings_and_fail_on(tmp_path: Path) -> None:
    (tmp_path / "good.jsonl").write_text(GOOD)
    (tmp_path / "bad.jsonl").write_text(GOOD + "{bad\n")
    (tmp_path / "blank.jsonl").write_text(GOOD + "\n" + GOOD)
    assert run("good.jsonl", cwd=tmp_path).returncode == 0
    bad = run("bad.jsonl", cwd=tmp_path)
    assert bad.returncode == 1
    assert "bad.jsonl:2: J010" in bad.stdout
    assert run("bad.jsonl", "--fail-on", "never", cwd=tmp_path).returncode == 0
    assert run("bad.jsonl", "--ignore", "J", cwd=tmp_path).returncode == 0
    assert run("blank.jsonl", cwd=tmp_path).returncode == 0
    assert run("blank.jsonl", "--fail-on", "warning", cwd=tmp_path).returncode == 1


def test_a_missing_file_is_a_finding_and_the_others_are_judged(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text("{bad\n")
    done = run("missing.jsonl", "bad.jsonl", cwd=tmp_path)
    assert done.returncode == 1
    assert "missing.jsonl:1: J001" in done.stdout
    assert "bad.jsonl:1: J010" in done.stdout


def test_what_was_asked_for_and_cannot_be_judged_is_status_2_and_the_rest_is_printed(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text(GOOD + "{bad\n")
    done = run("bad.jsonl", "--budget", "36GB", cwd=tmp_path)
    assert done.returncode == 2
    assert "--model" in done.stdout
    assert "bad.jsonl:2: J010" in done.stdout


def test_settings_of_pyproject_count_and_the_command_line_wins(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.lint-dataset]\nbatch-size = 4\nignore = ["J010"]\nloss = "logits"\n'
    )
    (tmp_path / "bad.jsonl").write_text("{bad\n" + GOOD)
    shown = run("--show-plan", "--loss", "chunked", cwd=tmp_path).stdout.splitlines()
    plan = {line.split()[0]: line.split(maxsplit=2)[1:] for line in shown}
    assert plan["batch-size"] == ["4", "pyproject.toml"]
    assert plan["loss"] == ["chunked", "command line"]
    assert run("bad.jsonl", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("line", "names"),
    [("max-lenght = 5", "max-lenght"), ('batch-size = "many"', "batch-size"), ('method = "dora"', "method")],
)
def test_a_setting_of_pyproject_that_cannot_be_is_one_line(line: str, names: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.lint-dataset]\n{line}\n")
    (tmp_path / "train.jsonl").write_text(GOOD)
    done = run("train.jsonl", cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert names in done.stderr


def test_json_goes_to_standard_output_alone(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text("{bad\n" + GOOD)
    done = run("bad.jsonl", "--output-format", "json", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert report["version"] == 1
    assert [d["code"] for d in report["diagnostics"]] == ["J010"]
    assert report["summary"]["examples"] == 2
    lines = run("bad.jsonl", "--output-format", "jsonl", cwd=tmp_path).stdout.splitlines()
    assert [json.loads(line)["line"] for line in lines] == [1]
    run("bad.jsonl", "--output-format", "json", "--output", "report.json", cwd=tmp_path)
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8")) == report


def test_measurements_have_a_row_an_example(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text("{bad\n" + GOOD)
    run("bad.jsonl", "--measurements", "rows.jsonl", cwd=tmp_path)
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert [(row["line"], row["family"], row["codes"]) for row in rows] == [(1, None, ["J010"]), (2, "messages", [])]


def test_every_rule_explains_itself(tmp_path: Path) -> None:
    listed = run("--list-rules", cwd=tmp_path).stdout
    assert "T001" in listed
    explained = run("--explain", "t001", cwd=tmp_path)
    assert explained.returncode == 0
    assert "max_length" in explained.stdout


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text("{bad\n" * 50_000)
    command = f"{sys.executable} -m lint_dataset bad.jsonl --output-format jsonl | head -n 1"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )
    assert json.loads(done.stdout)["code"] == "J010"
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


def test_a_file_name_that_is_no_unicode_is_judged_and_shown_escaped(tmp_path: Path) -> None:
    name = os.fsencode(str(tmp_path)) + b"/lat\xe9.jsonl"
    try:
        Path(os.fsdecode(name)).write_text("{bad\n")
    except OSError:
        pytest.skip("this file system takes no such name")
    for what in (os.fsdecode(name), "."):
        done = run(what, "--output-format", "json", cwd=tmp_path)
        assert done.returncode == 1, done.stderr
        (found,) = json.loads(done.stdout)["diagnostics"]
        assert found["path"].endswith("lat\\xe9.jsonl")


def test_what_cannot_be_judged_is_said_beside_jsonl(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(GOOD)
    done = run("train.jsonl", "--budget", "36GB", "--output-format", "jsonl", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "not judged" in done.stderr
    assert "--model" in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
@pytest.mark.parametrize("redirection", [">/dev/full", ">&-"])
def test_a_report_that_cannot_be_written_is_one_line_and_status_2(redirection: str, tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(GOOD)
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m lint_dataset train.jsonl {redirection}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr


@pytest.mark.parametrize("option", ["--max-length", "--batch-size", "--lora-rank"])
def test_a_number_beyond_all_reckoning_is_one_line(option: str, tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(GOOD)
    done = run("train.jsonl", option, str(2**63), cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert option.strip("-") in done.stderr


def test_a_path_without_a_name_is_not_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text("{bad\n")
    assert run("", cwd=tmp_path).returncode == 2


@pytest.mark.parametrize("value", ["14.5", "true"])
def test_a_length_in_pyproject_is_a_whole_number(value: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.lint-dataset]\nmax-length = {value}\n")
    done = run("--show-plan", cwd=tmp_path)
    assert done.returncode == 2
    assert "max-length" in done.stderr


def test_python_takes_one_path_or_many(tmp_path: Path) -> None:
    from lint_dataset import Plan, lint

    path = tmp_path / "bad.jsonl"
    path.write_text("{bad\n")
    for paths in (path, str(path), [path], [str(path)]):
        assert [d.code for d in lint(paths, Plan(), use_cache=False).diagnostics] == ["J010"]


@pytest.mark.parametrize("select", ["T,O", "M113"])
def test_rules_that_need_a_model_and_were_asked_for_are_not_passed_over(select: str, tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(GOOD)
    done = run("train.jsonl", "--select", select, cwd=tmp_path)
    assert done.returncode == 2
    assert "--model" in done.stdout


def test_what_has_no_effect_is_said(tmp_path: Path) -> None:
    """And rules that need no model can be asked for without one."""
    (tmp_path / "train.jsonl").write_text(GOOD)
    done = run("train.jsonl", "--method", "full", "--lora-rank", "8", cwd=tmp_path)
    assert "note: --lora-rank 8 without effect: --method full trains no adapters" in done.stdout
    done = run("train.jsonl", "--trainer", "axolotl", "--overlong", "cut", cwd=tmp_path)
    assert "note: --overlong cut without effect: no row is too long without a --max-length" in done.stdout
    done = run("train.jsonl", "--method", "lora", "--lora-rank", "8", "--select", "J,M0", cwd=tmp_path)
    assert done.returncode == 0
    assert "without effect" not in done.stdout


def test_questions_are_answered_as_json_and_into_a_file(tmp_path: Path) -> None:
    rules = json.loads(run("--list-rules", "--output-format", "json", cwd=tmp_path).stdout)
    assert {"code", "name", "severity", "what", "why", "remedy", "example"} == set(rules[0])
    explained = json.loads(run("--explain", "T001", "--output-format", "json", cwd=tmp_path).stdout)
    assert explained in rules
    models = json.loads(run("--list-models", "--output-format", "json", cwd=tmp_path).stdout)
    assert "gemma-3n-E2B" in {model["alias"] for model in models}
    devices = json.loads(run("--list-devices", "--output-format", "json", cwd=tmp_path).stdout)
    assert next(one for one in devices if one.get("device") == "t4")["compute"] == [7, 5]
    done = run("--show-plan", "--budget", "36GB", "--output-format", "json", "--output", "plan.json", cwd=tmp_path)
    assert done.stdout == ""
    plan = json.loads((tmp_path / "plan.json").read_text())
    assert (plan["budget"], plan["origins"]["budget"]) == (36 * 10**9, "command line")


def test_a_configured_format_is_for_runs_and_not_for_questions(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.lint-dataset]\noutput-format = "github"\noutput = "out.txt"\n')
    done = run("--explain", "T001", cwd=tmp_path)
    assert (done.returncode, done.stdout[:4]) == (0, "T001")
    (tmp_path / "bad.jsonl").write_text("{bad\n")
    assert run("bad.jsonl", cwd=tmp_path).returncode == 1
    assert (tmp_path / "out.txt").read_text().startswith("::error file=bad.jsonl,line=1,title=J010 json-syntax::")


@pytest.mark.parametrize("name", ["sarif", "html"])
def test_reports_for_other_programs(name: str, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text("{bad\n" + GOOD)
    done = run("bad.jsonl", "--output-format", name, cwd=tmp_path)
    assert done.returncode == 1
    assert "J010" in done.stdout


def test_two_options_do_not_write_one_file_and_none_writes_over_the_input(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(GOOD)
    for options in (
        ["--output", "o.jsonl", "--measurements", "./o.jsonl"],
        ["--write-kept", "k.jsonl", "--write-rejected", "k.jsonl"],
        ["--write-kept", "train.jsonl"],
        ["--write-rejected", "./train.jsonl"],
        ["--write-baseline", "train.jsonl"],
    ):
        done = run("train.jsonl", *options, cwd=tmp_path)
        assert done.returncode == 2, options
        assert len(done.stderr.strip().splitlines()) == 1, done.stderr
        assert done.stdout == ""
    assert [path.name for path in tmp_path.iterdir()] == ["train.jsonl"]
    assert (tmp_path / "train.jsonl").read_text() == GOOD


def test_kept_and_rejected_lines_and_what_has_none(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(GOOD + "{bad\n")
    done = run("train.jsonl", "--write-kept", "k.jsonl", "--write-rejected", "r.jsonl", cwd=tmp_path)
    assert done.returncode == 1
    assert "lines that pass: 1, rejected: 1" in done.stderr
    assert (tmp_path / "k.jsonl").read_text() == GOOD
    assert (tmp_path / "r.jsonl").read_text() == "{bad\n"
    (tmp_path / "rows.json").write_text(f"[{GOOD}]")
    done = run("rows.json", "--write-kept", "k2.jsonl", cwd=tmp_path)
    assert done.returncode == 2
    assert "--measurements" in done.stderr


def test_a_baseline_makes_old_findings_pass(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(GOOD + "{bad\n")
    assert run("train.jsonl", "--write-baseline", "b.json", cwd=tmp_path).returncode == 1
    done = run("train.jsonl", "--baseline", "b.json", "--output-format", "json", cwd=tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stdout)["baseline"] == {"path": "b.json", "findings": 1, "stale": 0}
    (tmp_path / "train.jsonl").write_text("{worse\n{bad\n")
    done = run("train.jsonl", "--baseline", "b.json", "--output-format", "jsonl", cwd=tmp_path)
    assert [json.loads(line)["line"] for line in done.stdout.splitlines()] == [1]
    assert done.returncode == 1


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="this system has no /dev/stdout")
def test_the_report_can_go_to_the_standard_output_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(GOOD + "{bad\n")
    done = run("train.jsonl", "--output", "/dev/stdout", "--output-format", "jsonl", cwd=tmp_path)
    assert done.returncode == 1
    assert json.loads(done.stdout)["code"] == "J010"


def test_the_plan_says_whose_way_clips_are_judged_by(tmp_path: Path) -> None:
    assert "judged as --trainer hf" in run("train.jsonl", "--show-plan", cwd=tmp_path).stdout
    assert "judged as" not in run("train.jsonl", "--show-plan", "--trainer", "axolotl", cwd=tmp_path).stdout


def test_a_budget_of_the_machine_is_not_asked_of_mlx(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(GOOD)
    mlx = ("train.jsonl", "--trainer", "mlx-lm", "--tokenizer", "gemma-3n-E2B", "--no-cache", "--offline")
    given = run(*mlx, "--budget", "16GB", cwd=tmp_path)
    assert given.returncode == 2
    assert "not judged: memory: that of mlx-lm 0.32.2 is not known, whatever is given" in given.stdout
    assert "--model" not in given.stdout.split("not judged")[1]
    of_machine = run(*mlx, "--device", "m3-36gb", cwd=tmp_path)
    assert of_machine.returncode == 0
    assert "note: memory: that of mlx-lm 0.32.2 is not known" in of_machine.stdout
