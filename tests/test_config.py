from pathlib import Path

import pytest

from lint_dataset.cli import main
from lint_dataset.config import ConfigError, read


def test_the_nearest_table_is_read_with_underscores(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.lint-dataset]\nmax-length = 2048\nmodel = "gemma-3n-E2B"\n')
    below = tmp_path / "data"
    below.mkdir()
    assert read(below) == ({"max_length": 2048, "model": "gemma-3n-E2B"}, tmp_path / "pyproject.toml")


def test_a_project_without_the_table_has_no_settings(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    (tmp_path / ".git").mkdir()
    assert read(tmp_path) == ({}, None)


def test_the_search_stops_at_the_root_of_the_repository(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.lint-dataset]\nmax-length = 2048\n")
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    assert read(tmp_path / "repo") == ({}, None)


@pytest.mark.parametrize("text", ["[tool.lint-dataset\n", '[tool]\nlint-dataset = "x"\n', "\xff"])
def test_a_file_that_is_no_configuration_is_one_line_with_its_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigError, match=r"pyproject\.toml") as raised:
        read(tmp_path)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("decode = 5", "decode in [tool.lint-dataset] must be true or false, not 5"),
        ("fetch = [true]", "fetch in [tool.lint-dataset] must be true or false, not [True]"),
        ("dora = 1", "dora in [tool.lint-dataset] must be true or false, not 1"),
        ("batch-size = 1.5", "batch-size in [tool.lint-dataset] must be a whole number, not 1.5"),
    ],
)
def test_a_value_of_another_type_is_one_line(
    line: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.lint-dataset]\n{line}\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left:
        main(["train.jsonl"])
    assert left.value.code == 2
    assert capsys.readouterr().err.strip().endswith(says)
