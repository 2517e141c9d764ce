"""Record what real loaders do with the files of ``kinds.py``, in ``tests/data/loaders.json``.

Run it once in the environment of each loader; it adds what that one does:

    python -m tests.loading.record datasets
    python -m tests.loading.record pandas
    python -m tests.loading.record mlx-lm

``datasets`` and ``pandas`` are whatever releases are installed. ``mlx-lm`` wants the package's files on the path (its
``tuner/datasets.py`` runs without MLX). Each file is read twice, with the block size of the datasets library and with a
small one, which must not differ: tests use the small ones.
"""

from __future__ import annotations

import importlib.util
import json
import math
import re
import shutil
import sys
import tempfile
import types
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.loading.kinds import BLOCK, ENDINGS, KINDS

RECORDED = Path(__file__).parents[1] / "data" / "loaders.json"
#: Small blocks: the least that the datasets library still cuts into pieces for itself.
SMALL = 1 << 17

Load = Callable[[Path, int], Any]


def main(loader: str) -> None:
    """Run one loader over every kind and keep the outcomes."""
    name, load = LOADERS[loader]()
    outcomes = {}
    for kind, build in KINDS.items():
        found = {}
        for block in (SMALL, BLOCK):
            content, rows = build(block)
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / f"train{ENDINGS.get(kind, '.jsonl')}"
                path.write_bytes(content)
                found[block] = outcome(load, path, block, rows)
        if len(set(found.values())) > 1:
            print(f"{kind}: the block size matters: {found}", file=sys.stderr)
        outcomes[kind] = found[BLOCK]
        print(f"{kind:34} {found[BLOCK]}")
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    recorded[name] = outcomes
    RECORDED.write_text(json.dumps(dict(sorted(recorded.items())), indent=1) + "\n")


def outcome(load: Load, path: Path, block: int, meant: list[dict[str, Any]] | None) -> str:
    """One word: ``loads``, ``padded`` with null keys, ``changed``, ``split`` into more rows, ``fails``, or ``fails on
    reading`` a row after loading.
    """
    try:
        loaded = load(path, block)
        count = len(loaded)
    except Exception as error:
        print(f"    {type(error).__name__}: {str(error).splitlines()[:1]} {cause(error)}")
        return "fails"
    try:
        rows = [loaded[index] for index in range(count)]
    except Exception:
        return "fails on reading"
    if meant is None:
        lines = [line for line in path.read_bytes().splitlines() if line.strip()]
        if count > len(lines):
            return "split"
        named = all(isinstance(row, dict) and all(isinstance(key, str) for key in row) for row in rows)
        return "loads" if named else "changed"
    if same(rows, meant):
        return "loads"
    return "padded" if same(without(rows, meant), meant) else "changed"


def cause(error: BaseException) -> str:
    """What the library says below its own words."""
    return str(error.__cause__ or "").replace("\n", " ")[:150]


def same(loaded: Any, meant: Any) -> bool:
    """Whether a loaded value is the one that was meant."""
    if isinstance(meant, dict):
        return (
            isinstance(loaded, dict)
            and loaded.keys() == meant.keys()
            and all(same(loaded[k], v) for k, v in meant.items())
        )
    if isinstance(meant, list):
        return isinstance(loaded, list) and len(loaded) == len(meant) and all(map(same, loaded, meant))
    if isinstance(meant, float) and isinstance(loaded, float) and math.isnan(meant):
        return math.isnan(loaded)
    return kind(loaded) is kind(meant) and bool(loaded == meant)


def kind(value: Any) -> type:
    """The type of a value; 1 and 1.0 are the same number."""
    return float if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value)


def without(loaded: Any, meant: Any) -> Any:
    """The loaded value without the null keys that nobody wrote."""
    if isinstance(loaded, dict) and isinstance(meant, dict):
        return {k: without(v, meant.get(k)) for k, v in loaded.items() if v is not None or k in meant}
    if isinstance(loaded, list) and isinstance(meant, list) and len(loaded) == len(meant):
        return [without(v, m) for v, m in zip(loaded, meant)]  # noqa: B905
    return loaded


def _datasets() -> tuple[str, Load]:
    import datasets

    datasets.disable_progress_bars()

    def load(path: Path, block: int) -> Any:
        cache = str(path.parent / "cache")
        rows = datasets.load_dataset("json", data_files=str(path), split="train", cache_dir=cache, chunksize=block)
        shutil.rmtree(path.parent / "none", ignore_errors=True)
        return rows

    return f"datasets {version('datasets')}", load


def _pandas() -> tuple[str, Load]:
    import pandas

    def load(path: Path, block: int) -> Any:
        return [clean(row) for row in pandas.read_json(path, lines=True).to_dict("records")]

    def clean(row: dict[Any, Any]) -> dict[Any, Any]:
        # A column that a row does not have is NaN in a data frame.
        return {key: None if isinstance(value, float) and math.isnan(value) else value for key, value in row.items()}

    return f"pandas {version('pandas')}", load


def _mlx_lm() -> tuple[str, Load]:
    found = importlib.util.find_spec("mlx_lm")
    if found is None or found.origin is None:
        raise SystemExit("put mlx-lm's files on the path")
    folder = Path(found.origin).parent
    for name in ("mlx_lm", "mlx_lm.tuner"):
        package = types.ModuleType(name)
        package.__path__ = [str(folder.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = package
    printing: Any = types.ModuleType("mlx_lm.cli_ui")
    printing.rprint = print
    sys.modules["mlx_lm.cli_ui"] = printing
    from mlx_lm.tuner.datasets import load_local_dataset  # type: ignore[import-not-found]

    def load(path: Path, block: int) -> Any:
        return load_local_dataset(path.parent, None, types.SimpleNamespace())[0]

    return f"mlx-lm {re.findall(r'[0-9.]{3,}', (folder / '_version.py').read_text())[0]}", load


LOADERS: dict[str, Callable[[], tuple[str, Load]]] = {"datasets": _datasets, "pandas": _pandas, "mlx-lm": _mlx_lm}

if __name__ == "__main__":
    main(sys.argv[1])
