"""Nothing heavy is loaded before it is used: that is what keeps a hook quick."""

import json
import subprocess
import sys

import pytest

HEAVY = ("numpy", "pyarrow", "transformers", "tokenizers", "datasets", "torch", "peft", "huggingface_hub", "soundfile")


def loaded_after(code: str) -> set[str]:
    report = f"{code}\nimport json, sys; print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))"
    run = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    return set(json.loads(run.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "code",
    [
        "import lint_dataset",
        "from lint_dataset import Plan; Plan(model='gemma-3n-E2B', budget='36GB')",
        "import lint_dataset.cli",
        "from lint_dataset.cli import command; command.main(['--help'], standalone_mode=False)",
        "from lint_dataset.cli import command; command.main(['--show-plan'], standalone_mode=False)",
    ],
)
def test_nothing_heavy_is_imported(code: str) -> None:
    assert loaded_after(code) == set()


def test_rows_are_judged_without_a_model_without_loading_one(tmp_path: object) -> None:
    code = (
        "from lint_dataset import Plan, lint\n"
        f"path = {str(tmp_path)!r} + '/train.jsonl'\n"
        "open(path, 'w').write('{\"text\": \"a\"}\\n{bad\\n')\n"
        "result = lint([path], Plan(), use_cache=False)\n"
        "assert [d.line for d in result.diagnostics if d.severity == 'error'] == [2], result.diagnostics\n"
    )
    assert loaded_after(code) <= {"numpy", "pyarrow"}
