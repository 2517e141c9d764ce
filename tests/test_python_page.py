"""The examples of docs/python.md run, in their order, where the README's example has been made."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests import coaching

PAGE = Path(__file__).parents[1] / "docs" / "python.md"


def blocks() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_every_example_runs(
    gemma3n_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = tmp_path / "example"
    coaching.make(made)
    (made / "gemma-3n").symlink_to(gemma3n_folder, target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in blocks():
        exec(compile(block, str(PAGE), "exec"), names)
    printed = capsys.readouterr().out
    result, plan = names["result"], names["plan"]
    assert result.rows.num_rows == result.summary.examples == len(names["frame"])
    assert (tmp_path / "rows.parquet").is_file()
    assert names["on_a_t4"].budget < plan.budget
    assert "images" in printed
    assert "calibrated on your run" in printed
    assert names["calibrated"].calibrate is not None
    assert int(names["peak_bytes"](names["calibrated"], 1536)) == pytest.approx(names["measured"], rel=1e-3)


def test_the_package_says_that_it_is_typed() -> None:
    import lint_dataset

    assert (Path(lint_dataset.__file__).parent / "py.typed").is_file()
