"""axolotl's chat strategy and its handling of lengths: ``pip install axolotl==0.19.0``.

Numba, which its packing sampler imports, is not used. Each row is a data set of one.
"""

from __future__ import annotations

import sys
import types
from typing import Any

from tests.reach import made
from tests.reach.record import outcome, versions

RUNS: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    ({"loss_on": "assistant"}, "conversations", {}),
    ({"loss_on": "assistant", "overlong": "cut"}, "conversations", {"excess_length_strategy": "truncate"}),
    ({"loss_on": "assistant", "overlong": "raise"}, "conversations", {"excess_length_strategy": "raise"}),
    (
        {"loss_on": "assistant", "overlong": "cut", "packing": "sample_packing"},
        "conversations",
        {"excess_length_strategy": "truncate", "sample_packing": True},
    ),
    ({"loss_on": "all"}, "conversations", {"train_on_inputs": True}),
    ({"loss_on": "assistant"}, "unanswered", {}),
]


def record(folder: str) -> dict[str, Any]:
    """Every run: None for a row that is dropped, the error's name, or the sequence that it becomes."""
    numba = types.ModuleType("numba")
    numba.njit = lambda function: function  # type: ignore[attr-defined]
    sys.modules.setdefault("numba", numba)
    import datasets
    import transformers
    from axolotl.prompt_strategies.chat_template import load
    from axolotl.utils.data.utils import handle_long_seq_in_dataset
    from axolotl.utils.dict import DictDefault
    from axolotl.utils.trainer import process_datasets_for_packing

    datasets.disable_caching()
    datasets.disable_progress_bars()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    runs = []
    for plan, kind, arguments in RUNS:
        config = DictDefault({"sequence_len": made.LIMIT, "eot_tokens": ["<|end|>"], **arguments})
        where = {"type": "chat_template", "field_messages": "messages", "chat_template": "tokenizer_default"}
        strategy = load(tokenizer, config, DictDefault(where))
        outcomes: list[Any] = []
        for row in getattr(made, kind)():
            ready = strategy.tokenize_prompt({key: [value] for key, value in row.items()})
            ready = datasets.Dataset.from_dict({key: ready[key] for key in ("input_ids", "labels", "attention_mask")})
            try:
                ready = handle_long_seq_in_dataset(ready, made.LIMIT, config)
                if config.sample_packing and len(ready):
                    ready, _ = process_datasets_for_packing(config, ready, None)
            except ValueError as error:
                emptied = "no samples left" in str(error)
                outcomes.append(None if emptied else type(error).__name__)
                continue
            outcomes.append([outcome(one["input_ids"], one["labels"]) for one in ready] or None)
        runs.append({"plan": {**plan, "max_length": made.LIMIT}, "rows": kind, "outcomes": outcomes})
    return {"versions": versions("axolotl", "transformers", "datasets"), "runs": runs}
