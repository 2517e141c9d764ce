"""torchtune's tokenizing of messages, which truncates: ``pip install torchtune==0.6.1 torchao==0.9.0``.

``tokenize_messages_no_special_tokens`` is what its tokenizers of Gemma, Mistral and Phi go through. The made tokenizer
stands for their vocabulary: its end-of-turn marker is the end-of-sequence token, and the headers are the prompt's.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tests.reach import made
from tests.reach.record import outcome, versions

#: torchtune puts the end of the sequence right behind an answer.
TIGHT = True
RUNS: list[tuple[dict[str, Any], str]] = [
    ({"loss_on": "assistant"}, "conversations"),
    ({"loss_on": "assistant", "packing": "packed"}, "conversations"),
]


def record(folder: str) -> dict[str, Any]:
    """Every run: the sequence that a row becomes, packed by itself in the second."""
    import transformers
    from torchtune.data import Message
    from torchtune.datasets import PackedDataset
    from torchtune.modules.transforms.tokenizers import tokenize_messages_no_special_tokens

    fast = transformers.AutoTokenizer.from_pretrained(folder)
    end = made.SPECIAL.index("<|end|>")
    spoken = SimpleNamespace(
        max_seq_len=made.LIMIT, encode=lambda text, **_: fast(text, add_special_tokens=False)["input_ids"]
    )
    runs = []
    for plan, kind in RUNS:
        outcomes = []
        for row in getattr(made, kind)():
            messages = []
            for i, message in enumerate(row["messages"]):
                role, text = message["role"], message["content"]
                opened = ("<s>" if i == 0 else "\n") + f"<|turn|>{role}\n"
                if role == "assistant":
                    messages += [Message("user", opened, masked=True), Message("assistant", text)]
                else:
                    messages.append(Message("user", f"{opened}{text}<|end|>", masked=True))
            ids, mask = tokenize_messages_no_special_tokens(spoken, messages, bos_id=None, eos_id=end)
            labels = [-100 if hidden else token for token, hidden in zip(ids, mask, strict=True)]
            if "packing" in plan:
                (pack,) = PackedDataset([{"tokens": ids, "labels": labels}], max_seq_len=made.LIMIT)
                ids, labels = pack["tokens"][: len(ids)].tolist(), pack["labels"][: len(ids)].tolist()
            outcomes.append([outcome(ids, labels)])
        runs.append({"plan": {**plan, "max_length": made.LIMIT}, "rows": kind, "outcomes": outcomes})
    return {"versions": versions("torchtune", "torchao", "transformers", "torch"), "runs": runs}
