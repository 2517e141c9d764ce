"""LLaMA-Factory's converter and data processor: ``pip install llamafactory==0.9.5``.

With a newer transformers than it names: ``DISABLE_VERSION_CHECK=1``. Torchaudio, which it imports, is not used.
A template of its own kind stands for the made tokenizer's.
"""

from __future__ import annotations

import sys
import types
from typing import Any

from tests.reach import made
from tests.reach.record import outcome, versions

RUNS: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    ({"loss_on": "assistant"}, "conversations", {}),
    ({"loss_on": "all"}, "conversations", {"train_on_prompt": True}),
    ({"loss_on": "last"}, "conversations", {"mask_history": True}),
    ({"loss_on": "assistant"}, "unanswered", {}),
]


def record(folder: str) -> dict[str, Any]:
    """Every run: None for a row that is dropped, else the one sequence that it becomes."""
    sys.modules.setdefault("torchaudio", types.ModuleType("torchaudio"))
    import transformers
    from llamafactory.data.converter import SharegptDatasetConverter
    from llamafactory.data.formatter import EmptyFormatter, StringFormatter
    from llamafactory.data.parser import DatasetAttr
    from llamafactory.data.processor.supervised import SupervisedDatasetProcessor
    from llamafactory.data.template import TEMPLATES, register_template
    from llamafactory.hparams import DataArguments

    register_template(
        name="made",
        format_user=StringFormatter(slots=["<|turn|>user\n{{content}}<|end|>\n<|turn|>assistant\n"]),
        format_assistant=StringFormatter(slots=["{{content}}<|end|>\n"]),
        format_system=StringFormatter(slots=["<|turn|>system\n{{content}}<|end|>\n"]),
        format_prefix=EmptyFormatter(slots=[{"bos_token"}]),
    )
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tags = {"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant"}
    attributes = DatasetAttr("file", "made", formatting="sharegpt", messages="messages", **tags)
    runs = []
    for plan, kind, arguments in RUNS:
        settings = DataArguments(template="made", cutoff_len=made.LIMIT, **arguments)
        convert = SharegptDatasetConverter(attributes, settings)
        process = SupervisedDatasetProcessor(TEMPLATES["made"], tokenizer, None, settings)
        outcomes = []
        for row in getattr(made, kind)():
            ready = process.preprocess_dataset({key: [value] for key, value in convert(row).items()})
            pairs = zip(ready["input_ids"], ready["labels"], strict=True)
            outcomes.append([outcome(ids, labels) for ids, labels in pairs] or None)
        runs.append({"plan": {**plan, "max_length": made.LIMIT}, "rows": kind, "outcomes": outcomes})
    return {"versions": versions("llamafactory", "transformers"), "runs": runs}
