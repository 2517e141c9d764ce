"""Our verdicts beside what the trainers' own code made of the same rows.

python -m tests.reach.compare    # the table: trainer, outcome, rows compared, disagreements
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from lint_dataset.judge import look
from lint_dataset.measure import measure
from lint_dataset.plan import Plan
from lint_dataset.processors import locate
from lint_dataset.reach import supervised_tokens
from lint_dataset.rows import Ints, Spans
from lint_dataset.rules import Judged
from lint_dataset.sources import RawExample
from tests.reach import made
from tests.reach.record import FOLDER, shown

RECORDED = sorted(path.stem for path in FOLDER.glob("*.json"))


class Rows:
    """The made rows, measured by the made tokenizer, and their ids."""

    def __init__(self, *, tight: bool = False) -> None:
        from transformers import AutoTokenizer

        with tempfile.TemporaryDirectory() as folder:
            made.save_tokenizer(Path(folder), tight=tight)
            location = locate(None, folder, folder)
            self.tokenizer = AutoTokenizer.from_pretrained(folder)
            self.tables, self.ids = {}, {}
            for kind in ("conversations", "unanswered", "with_tools", "prompts", "texts"):
                rows = getattr(made, kind)()
                raw = [json.dumps(row).encode() for row in rows]
                examples = [RawExample(kind, line, each) for line, each in enumerate(raw, 1)]
                self.tables[kind] = measure(examples, location, None)
                self.ids[kind] = [self._ids(row) for row in rows]

    def _ids(self, row: made.Row) -> list[int]:
        """The ids of a whole row, as transformers gives them; plain texts end with the end of the sequence."""
        messages = row.get("messages") or row.get("prompt")
        if isinstance(messages, list):
            messages = messages + row.get("completion", [])
            ids = self.tokenizer.apply_chat_template(messages, tools=row.get("tools"), return_dict=False)
            return list(ids)
        text = row["text"] if "text" in row else row["prompt"] + row["completion"]
        return [*self.tokenizer(text)["input_ids"], self.tokenizer.eos_token_id]


def first_tokens(judged: Judged) -> Ints:
    """How many of each row's supervised tokens are the first of a sequence, and so predicted by nothing."""
    kept = judged.reach.kept
    if judged.plan.trainer == "axolotl":  # never trains on what a conversation begins with
        return np.zeros(len(judged.rows), np.int64)
    if _in_pieces(judged.plan):
        row = np.repeat(kept.row, -(-kept.end // made.LIMIT))
        start = np.concatenate([np.arange(0, end, made.LIMIT) for end in kept.end.tolist()])
    else:
        row, which = np.unique(kept.row, return_index=True)
        start = kept.start[which]
    return supervised_tokens(judged.rows, judged.plan, Spans(row, start, start + 1))


def _in_pieces(plan: Plan) -> bool:
    return plan.packing in ("bfd_split", "wrapped") or plan.overlong == "split"


def ours(judged: Judged, row: int, ids: list[int], firsts: Ints) -> tuple[str, Any]:
    """A row's outcome in a word, and what is compared: the ids that are kept, and how many are trained on."""
    reach, losses = judged.reach, judged.losses
    if reach.dropped[row]:
        return "row dropped", None
    if reach.stops[row]:
        return "run stops", "error"
    mine = reach.kept.row == row
    kept = [t for s, e in zip(reach.kept.start[mine], reach.kept.end[mine], strict=True) for t in ids[s:e]]
    if reach.sealed[row]:
        kept[-1] = made.SPECIAL.index("<|end|>")
    trained = int(reach.supervised[row] - firsts[row])
    answers = judged.rows.answers.row == row
    gone = losses.gone[answers]
    if _in_pieces(judged.plan):
        word = "in pieces" if len(ids) > made.LIMIT else "intact"
    elif not trained:
        word = "kept, nothing to train on"
    elif len(gone) and gone.all():
        word = "trained on the prompt alone"
    elif gone.any():
        word = "an answer gone"
    elif losses.cut[answers].any():
        word = "an answer loses its end"
    else:
        word = "intact" if len(kept) == len(ids) else "answers whole, row cut"
    nan = {"nan": True} if judged.plan.trainer == "mlx-lm" and not trained else {}
    return word, {"ids": shown(kept), "trained": trained, **nan}


def theirs(outcome: Any) -> Any:
    """A recorded outcome as it is compared: the pieces of a row as one."""
    if isinstance(outcome, str):
        return "error"
    if not outcome:
        return None
    ids = [token for piece in outcome for token in _ids(piece["ids"])]
    more = {key: True for piece in outcome for key in piece.keys() - {"ids", "trained"}}
    return {"ids": shown(ids), "trained": sum(piece["trained"] for piece in outcome), **more}


def _ids(text: str) -> list[int]:
    ends = [[int(end) for end in part.split("-")] for part in text.split()]
    return [token for end in ends for token in range(end[0], end[-1] + 1)]


@cache
def _rows(tight: bool) -> Rows:
    return Rows(tight=tight)


def compare(trainer: str) -> tuple[Counter[str], list[str]]:
    """How many rows of each outcome agree, and the disagreements in words."""
    recorded = json.loads((FOLDER / f"{trainer}.json").read_text())
    rows = _rows(recorded.get("tight", False))
    agreed: Counter[str] = Counter()
    differ = []
    for run in recorded["runs"]:
        name, _, release = trainer.partition("-1.") if trainer.startswith("trl-") else (trainer, "", "")
        plan = Plan(trainer=f"{name}==1.{release}" if release else name, **run["plan"])
        judged = look(rows.tables[run["rows"]], plan, None)
        assert np.array_equal(judged.rows.tokens, [len(ids) for ids in rows.ids[run["rows"]]])
        firsts = first_tokens(judged)
        for row, outcome in enumerate(run["outcomes"]):
            if row in run.get("left_out", ()):
                continue
            word, mine = ours(judged, row, rows.ids[run["rows"]][row], firsts)
            if mine == theirs(outcome):
                agreed[word] += 1
            else:
                differ.append(f"{run['plan']} {run['rows']}[{row}]: {word}: {mine} and not {theirs(outcome)}")
    return agreed, differ


#: The outcomes that are told apart, in the order of the table.
WORDS = (
    "intact",
    "answers whole, row cut",
    "an answer loses its end",
    "an answer gone",
    "trained on the prompt alone",
    "kept, nothing to train on",
    "in pieces",
    "row dropped",
    "run stops",
)


def table() -> str:
    """Rows compared, by trainer and outcome, and how many of them differ."""
    lines = [f"| trainer | {' | '.join(WORDS)} | rows | disagreements |", f"|---|{'---|' * (len(WORDS) + 2)}"]
    for trainer in RECORDED:
        agreed, differ = compare(trainer)
        counts = " | ".join(str(agreed[word]) for word in WORDS)
        lines.append(f"| {_named(trainer)} | {counts} | {sum(agreed.values()) + len(differ)} | {len(differ)} |")
    return "\n".join(lines) + "\n"


def _named(trainer: str) -> str:
    """The trainer's package and release that was recorded."""
    package, release = next(iter(json.loads((FOLDER / f"{trainer}.json").read_text())["versions"].items()))
    return f"{package} {release}"


def main() -> None:
    print(table(), end="")
    for trainer in RECORDED:
        for each in compare(trainer)[1]:
            print(f"{trainer}: {each}")


if __name__ == "__main__":
    main()
