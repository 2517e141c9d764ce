"""unsloth's preparation of TRL's data sets: ``pip install unsloth_zoo==2026.10.9 trl==1.16.0``.

Each row comes second in a data set of two, as an empty one is not prepared. Without a GPU unsloth itself cannot be
imported: this is the function that takes the place of SFTTrainer's.
"""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

from tests.reach import made
from tests.reach.record import outcome, versions

RUNS: list[tuple[dict[str, Any], str]] = [
    ({"loss_on": "all"}, "conversations"),
    ({"loss_on": "assistant"}, "conversations"),
    ({"loss_on": "assistant", "truncation_side": "left"}, "conversations"),
    ({"loss_on": "assistant"}, "unanswered"),
    ({"loss_on": "assistant"}, "with_tools"),
    ({"loss_on": "completion"}, "prompts"),
]


def record(folder: str) -> dict[str, Any]:
    """Every run: None for a row that is dropped, else the sequence that it becomes."""
    os.environ["UNSLOTH_ZOO_DISABLE_GPU_INIT"] = "1"
    import datasets
    import transformers
    from unsloth_zoo.dataset_utils import sft_prepare_dataset

    datasets.disable_caching()
    datasets.disable_progress_bars()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    runs = []
    for plan, kind in RUNS:
        arguments = SimpleNamespace(
            max_length=made.LIMIT,
            dataset_text_field="text",
            assistant_only_loss=plan["loss_on"] == "assistant",
            truncation_mode="keep_end" if plan.get("truncation_side") == "left" else "keep_start",
        )
        outcomes = []
        for row in getattr(made, kind)():
            trainer = SimpleNamespace(data_collator=None, chat_template=None, completion_only_loss=None, model=None)
            kept = {**made.talk(2, 2), **({"tools": row["tools"]} if "tools" in row else {})}
            if "prompt" in row:
                kept = {"prompt": row["prompt"], "completion": row["completion"]}
            two = datasets.Dataset.from_list([kept, row])
            ready = sft_prepare_dataset(trainer, two, tokenizer, arguments, False, None, "train").to_list()[1:]
            outcomes.append([outcome(one["input_ids"], one.get("labels", one["input_ids"])) for one in ready] or None)
        runs.append({"plan": {**plan, "max_length": made.LIMIT}, "rows": kind, "outcomes": outcomes})
    return {"versions": versions("unsloth_zoo", "trl", "transformers", "datasets"), "runs": runs}
