"""Records what the trainers' own code makes of rows around every boundary: ``tests/data/reach/TRAINER.json``.

    python -m tests.reach.record TRAINER

Each trainer in an environment of its own, from the root of this repository; what to install is at the top of its file
in ``tests/reach/recorders``. The tests compare our verdicts with what is recorded: no trainer is needed for that.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

from tests.reach import made

FOLDER = Path(__file__).parents[1] / "data" / "reach"


def shown(ids: list[int]) -> str:
    """Token ids as text, with consecutive numbers as a range: ``1 3 7 10-30 4``."""
    parts: list[list[int]] = []
    for token in ids:
        if parts and token == parts[-1][1] + 1:
            parts[-1][1] = token
        else:
            parts.append([token, token])
    return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)


def outcome(ids: list[int], labels: list[int]) -> dict[str, Any]:
    """A sequence as it goes into the step: its ids, and how many of them are predicted by the ones before them.

    The first label of a sequence has nothing before it, whether the trainer masks it or not.
    """
    return {"ids": shown(ids), "trained": sum(label != -100 for label in labels[1:])}


def versions(*names: str) -> dict[str, str]:
    """The releases that an outcome came from."""
    return {name: metadata.version(name) for name in names}


def main(trainer: str) -> None:
    module = importlib.import_module(f"tests.reach.recorders.{re.sub('[-.]', '_', trainer)}")
    with tempfile.TemporaryDirectory() as folder:
        tight = getattr(module, "TIGHT", False)
        made.save_tokenizer(Path(folder), tight=tight)
        found = module.record(folder)
    FOLDER.mkdir(parents=True, exist_ok=True)
    head = {"versions": found["versions"], "tight": tight}
    lines = [json.dumps(run, separators=(",", ":")) for run in found["runs"]]
    text = json.dumps(head)[:-1] + ',\n"runs": [\n' + ",\n".join(lines) + "\n]}\n"
    json.loads(text)
    (FOLDER / f"{trainer}.json").write_text(text)
    print(f"{trainer}: {sum(len(run['outcomes']) for run in found['runs'])} outcomes")


if __name__ == "__main__":
    main(sys.argv[1])
