"""What a reader has to know before any finding: assumptions that decide verdicts, and what was not judged."""

from __future__ import annotations

from lint_dataset.plan import format_bytes
from lint_dataset.rules import Judged
from lint_dataset.summary import cut_answers


def notes(judged: Judged) -> list[str]:
    """The notes of one run, a sentence each, in the order to read them."""
    said: list[str] = []
    plan, memory = judged.plan, judged.memory
    if plan.model is None and plan.tokenizer is None:
        said.append("no model named: only files and rows were judged, not tokens, truncation or memory")
    measured = int(judged.rows.measured.sum())
    if not measured:
        return said
    if plan.origins["max_length"] == "not given" and plan.preset.max_length is not None:
        limit = plan.preset.max_length
        cut, unseen = cut_answers(judged, limit)
        said.append(
            f"no max_length given: examples are judged whole. {plan.preset.release} cuts at {limit:,} tokens unless "
            f"told otherwise, which would cut the end off an answer (examples: {judged.figure(cut)}) and hide a whole "
            f"one (examples: {judged.figure(unseen)})"
        )
    if memory is not None and plan.budget is None:
        highest = format_bytes(int(memory.peak.max()))
        said.append(f"no budget given: nothing was judged out of memory (the highest peak is {judged.figure(highest)})")
    if memory is not None:
        said.append(f"memory: {memory.basis}")
    return said
