"""ms-swift's template, which encodes and truncates: ``pip install ms-swift==4.6.0``.

A template of its own kind stands for the made tokenizer's.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tests.reach import made
from tests.reach.record import outcome, versions

#: Its templates end a row with the end-of-turn marker.
TIGHT = True
RUNS: list[tuple[dict[str, Any], str, str, str]] = [
    ({"loss_on": "assistant"}, "conversations", "raise", "default"),
    ({"loss_on": "assistant", "overlong": "cut"}, "conversations", "right", "default"),
    ({"loss_on": "assistant", "overlong": "cut", "truncation_side": "left"}, "conversations", "left", "default"),
    ({"loss_on": "assistant", "overlong": "split"}, "conversations", "split", "default"),
    ({"loss_on": "last", "overlong": "cut"}, "conversations", "right", "last_round"),
]


def record(folder: str) -> dict[str, Any]:
    """Every run: None for a row that is dropped (``delete`` is ``raise``, and the row left out), else its sequences."""
    import transformers
    from swift.template.base import MaxLengthError, Template
    from swift.template.template_meta import TemplateMeta

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.model_info = SimpleNamespace(max_model_len=10**6, task_type="causal_lm", config=None, torch_dtype=None)
    tokenizer.model_meta = SimpleNamespace(is_multimodal=False, model_type="made")
    meta = TemplateMeta(
        "made",
        prefix=["<s>"],
        prompt=["<|turn|>user\n{{QUERY}}<|end|>\n<|turn|>assistant\n"],
        chat_sep=["<|end|>\n"],
        suffix=["<|end|>"],
        system_prefix=["<s><|turn|>system\n{{SYSTEM}}<|end|>\n"],
    )
    runs = []
    for plan, kind, strategy, scale in RUNS:
        template = Template(tokenizer, meta, max_length=made.LIMIT, truncation_strategy=strategy, loss_scale=scale)
        template.set_mode("train")
        outcomes: list[Any] = []
        rows = getattr(made, kind)()
        # Behind a question at the end of a row its templates put the header of an answer: other tokens than ours.
        left_out = [i for i, row in enumerate(rows) if row["messages"][-1]["role"] != "assistant"]
        for row in rows:
            try:
                ready = template.encode(row)
            except MaxLengthError:
                outcomes.append(None)
                continue
            pieces = ready if isinstance(ready, list) else [ready]
            outcomes.append([outcome(one["input_ids"], one["labels"]) for one in pieces])
        runs.append(
            {"plan": {**plan, "max_length": made.LIMIT}, "rows": kind, "outcomes": outcomes, "left_out": left_out}
        )
    return {"versions": versions("ms-swift", "transformers", "torch"), "runs": runs}
