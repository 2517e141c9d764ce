"""TRL's SFTTrainer: ``pip install trl==1.16.0``, and ``trl==1.4.0`` for the other file.

The trainer prepares each row by itself, as a data set of one, and its collator makes the batch of one.
"""

from __future__ import annotations

import tempfile
from typing import Any

from tests.reach import made
from tests.reach.record import outcome, versions

#: Settings of our plan, the rows, and the arguments of SFTConfig that they stand for.
RUNS: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    ({"loss_on": "all"}, "conversations", {}),
    ({"loss_on": "assistant"}, "conversations", {"assistant_only_loss": True}),
    ({"loss_on": "assistant", "truncation_side": "left"}, "conversations", {"assistant_only_loss": True}),
    ({"loss_on": "assistant", "packing": "bfd"}, "conversations", {"assistant_only_loss": True, "packing": True}),
    ({"loss_on": "all", "packing": "bfd_split"}, "conversations", {"packing": True}),
    ({"loss_on": "all", "packing": "wrapped"}, "conversations", {"packing": True}),
    ({"loss_on": "all"}, "unanswered", {}),
    ({"loss_on": "assistant"}, "unanswered", {"assistant_only_loss": True}),
    ({"loss_on": "assistant"}, "with_tools", {"assistant_only_loss": True}),
    ({"loss_on": "completion"}, "prompts", {}),
    ({"loss_on": "all"}, "prompts", {"completion_only_loss": False}),
    ({"loss_on": "all"}, "texts", {}),
]


def record(folder: str) -> dict[str, Any]:
    """Every run: for each row None where it is dropped, the error's name, or its pieces as they reach the step."""
    import datasets
    import transformers

    datasets.disable_caching()
    datasets.disable_progress_bars()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    shape = {"vocab_size": len(tokenizer), "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1}
    config = transformers.LlamaConfig(**shape, num_attention_heads=1, num_key_value_heads=1)
    runs = []
    for plan, kind, arguments in RUNS:
        rows = getattr(made, kind)()
        trainer = _trainer(
            transformers.LlamaForCausalLM(config),
            tokenizer,
            made.talk(5, 5) if "messages" in rows[0] else rows[0],
            plan,
            arguments,
        )
        outcomes = [_outcome(trainer, tokenizer, row) for row in rows]
        runs.append({"plan": {**plan, "max_length": made.LIMIT}, "rows": kind, "outcomes": outcomes})
    return {"versions": versions("trl", "transformers", "datasets", "torch"), "runs": runs}


def _trainer(model: Any, tokenizer: Any, row: made.Row, plan: dict[str, Any], arguments: dict[str, Any]) -> Any:
    from datasets import Dataset
    from trl import SFTConfig, SFTTrainer

    side = "keep_end" if plan.get("truncation_side") == "left" else "keep_start"
    strategy = {"packing_strategy": plan["packing"]} if "packing" in plan else {}
    settings = SFTConfig(
        output_dir=tempfile.mkdtemp(),
        max_length=made.LIMIT,
        truncation_mode=side,
        report_to=[],
        bf16=False,
        use_cpu=True,
        **strategy,
        **arguments,
    )
    return SFTTrainer(model, settings, train_dataset=Dataset.from_list([row]), processing_class=tokenizer)


def _outcome(trainer: Any, tokenizer: Any, row: made.Row) -> Any:
    from datasets import Dataset

    one = Dataset.from_list([row])
    try:
        ready = trainer._prepare_dataset(one, tokenizer, trainer.args, trainer.args.packing, None, "train")
    except RuntimeError as error:
        return type(error).__name__
    pieces = []
    for each in ready:
        batch = trainer.data_collator([each])
        pieces.append(outcome(batch["input_ids"][0].tolist(), batch["labels"][0].tolist()))
    return pieces or None
