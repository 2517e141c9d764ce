"""What a reader has to know before any finding: assumptions that decide verdicts, and what was not judged."""

from __future__ import annotations

import numpy as np

from lint_dataset.plan import format_bytes
from lint_dataset.rules import Judged


def notes(judged: Judged) -> list[str]:
    """The notes of one run, a sentence each, in the order to read them."""
    said: list[str] = []
    plan, memory = judged.plan, judged.memory
    if plan.model is None and plan.tokenizer is None:
        said.append("no model named: only files and rows were judged, not tokens, truncation or memory")
    measured = int(judged.rows.measured.sum())
    if not measured:
        return said
    said += _lengths(judged)
    if memory is not None and plan.budget is None:
        highest = format_bytes(int(memory.peak.max()))
        said.append(f"no budget given: nothing was judged out of memory (the highest peak is {judged.figure(highest)})")
    if memory is not None:
        said.append(f"memory: {memory.basis}")
    pairs = judged.rows.table.column("family").to_pylist().count("preference") if memory is not None else 0
    if pairs:
        said.append(
            f"rows with a chosen and a rejected answer ({pairs:,}) are judged as one sequence, the longer of the two: "
            "a step of DPO holds both (2 x batch rows), and what a reference model says of them, which is not reckoned"
        )
    return said


def _lengths(judged: Judged) -> list[str]:
    """What the plan's trainer does to rows as a whole: those it leaves out, and what packing makes of a step."""
    plan, rows, said = judged.plan, judged.rows, []
    measured, out = int(rows.measured.sum()), int(judged.reach.dropped.sum())
    if out:
        share = judged.figure(f"{out:,} of {measured:,} examples ({out / measured:.1%})".replace("%", " %"))
        said.append(f"{plan.preset.release} leaves out {share} and names none of them")
    if plan.trainer == "axolotl" and len(rows.media.row):
        said.append("axolotl neither cuts nor drops rows where a processor is configured: rows with media stay whole")
    if plan.trainer == "mlx-lm" and plan.budget is not None:
        # Batches are padded to 32 tokens above their longest row, or to the limit where that is less.
        steps = judged.reach.step[judged.reach.step > 0]
        lengths = len(np.unique(np.minimum(-(-steps // 32) * 32, plan.max_length or steps.max(initial=0))))
        said.append(
            f"the peak that MLX reports leaves out its cache of freed buffers, which grows with every length of step "
            f"({judged.figure(lengths)} here, padded to 32 tokens): keep a quarter of the memory free, or call "
            "mx.set_cache_limit"
        )
    if plan.packing != "none":
        half = int(np.median(rows.tokens[rows.measured]))
        said.append(
            f"packing: every step is {plan.batch_size} x {plan.max_length:,} tokens, whatever the rows (half of them "
            f"have up to {judged.figure(half)})"
        )
    elif plan.pad_to_max_length and judged.reach.step.any() and not (plan.trainer == "axolotl" and len(rows.media.row)):
        half = int(np.median(rows.tokens[rows.measured]))
        said.append(
            f"padding: every step is {plan.batch_size} x {int(judged.reach.step.max()):,} tokens, however short its "
            f"rows (half of them have up to {judged.figure(half)})"
        )
    if plan.packing in ("wrapped", "packing"):
        said.append(f"packing {plan.packing}: rows in one sequence see each other unless the attention masks them")
    return said
