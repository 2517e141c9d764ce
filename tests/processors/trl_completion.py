"""Where the completion of a prompt/completion row starts: by us, and by the labels that TRL's SFTTrainer makes.

    python -m tests.processors.trl_completion TOKENIZER GLOB

prepares the same rows with the trainer itself, with every template of the glob and the tokens of the tokenizer in the
folder TOKENIZER. It needs TRL (1.16), which the tests do not install.
"""

from __future__ import annotations

import glob
import sys
import tempfile
from pathlib import Path
from typing import Any

from lint_dataset.processors import load, locate
from lint_dataset.processors.loading import Processor
from tests.processors.exact import measured
from tests.processors.matrix import PLAIN, direct, processor_with, say

CONVERSATIONS: list[dict[str, Any]] = [
    {"prompt": PLAIN[:1], "completion": PLAIN[1:]},
    {
        "prompt": [say("user", "a"), say("assistant", "b"), say("user", "c")],
        "completion": [say("assistant", "<think>\nx\n</think>\n\nd")],
    },
    {"prompt": [say("user", "a")], "completion": [say("assistant", "b"), say("user", "c"), say("assistant", "d")]},
]
STRINGS: list[dict[str, Any]] = [
    {"prompt": prompt, "completion": completion}
    for prompt, completion in (
        ("Is it?\nA: ", "yes"),
        ("Is it?\nA:", " yes"),
        ("ab", "cd"),
        ("x\n", "\n\ny"),
        ("", "y"),
    )
]


def theirs(processor: Processor, rows: list[dict[str, Any]], folder: str) -> list[tuple[int, int]]:
    """Tokens and the first label of each row as the trainer prepares it, around the smallest of models."""
    from datasets import Dataset
    from transformers import LlamaConfig, LlamaForCausalLM
    from trl import SFTConfig, SFTTrainer

    small = dict.fromkeys(("hidden_size", "intermediate_size"), 8)
    heads = dict.fromkeys(("num_hidden_layers", "num_attention_heads", "num_key_value_heads"), 1)
    model = LlamaForCausalLM(LlamaConfig(vocab_size=len(processor.tokenizer), **small, **heads))
    config = SFTConfig(output_dir=folder, max_length=None, report_to=[], use_cpu=True, bf16=False)
    data = Dataset.from_list(rows)
    trainer = SFTTrainer(model=model, args=config, train_dataset=data, processing_class=processor.tokenizer)
    return [
        (len(row["labels"]), next((at for at, label in enumerate(row["labels"]) if label != -100), len(row["labels"])))
        for row in trainer.train_dataset
    ]


def main(folder: str, pattern: str) -> int:
    base = load(locate(None, folder))
    compared, templates, wrong = 0, 0, []
    jobs = [("strings", base, STRINGS)]
    for path in sorted(map(Path, glob.glob(pattern))):
        processor = processor_with(base, path.read_text(encoding="utf-8"))
        if direct(processor, PLAIN) is not None:
            jobs.append((path.stem, processor, CONVERSATIONS))
    with tempfile.TemporaryDirectory() as outputs:
        for name, processor, rows in jobs:
            found = measured(processor, rows)
            taken = [
                (row, own) for row, own in zip(rows, found, strict=True) if own["tokens"] and "M115" not in own["codes"]
            ]
            labels = theirs(processor, [row for row, _ in taken], outputs) if taken else []
            templates += bool(taken)
            for (row, own), label in zip(taken, labels, strict=True):
                compared += 1
                if label != (own["tokens"], own["completion"]):
                    wrong.append(f"{name} {row}: TRL {label}, not {own['tokens'], own['completion']}")
    print(f"{compared} rows of {templates - 1} templates and of strings, {len(wrong)} disagreements", *wrong, sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
