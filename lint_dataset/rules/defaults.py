"""T: what nobody asked for and happens all the same."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lint_dataset.processors.templates import has_generation_tags
from lint_dataset.reach.training_templates import is_known
from lint_dataset.rules import Finding, Judged, rule
from lint_dataset.summary import by_default


@rule(
    "T010",
    "default-max-length",
    "warning",
    what="No max_length is given, and the one that the trainer takes by itself would cut answers or drop rows.",
    why="TRL cuts at 1,024 tokens, axolotl drops rows beyond 512, and neither says which rows that were.",
    remedy="Name the max_length of your training with --max-length; then every row is judged by it.",
    example='{"messages": [{"role": "user", "content": "…"}, {"role": "assistant", "content": "… 1,400 tokens …"}]}',
)
def default_max_length(judged: Judged) -> Iterator[Finding]:
    """Once a file, at its first row that is longer than the trainer's own max_length."""
    cuts = by_default(judged)
    if cuts is None or not (cuts.cut or cuts.unseen or cuts.dropped):
        return
    paths = judged.rows.table.column("path").to_numpy(zero_copy_only=False)
    release = judged.plan.preset.release
    counts = {"cut {} inside an answer": cuts.cut, "lose a whole answer of {}": cuts.unseen, "drop {}": cuts.dropped}
    does = [text.format(judged.figure(number)) for text, number in counts.items() if number]
    long = np.flatnonzero(judged.rows.tokens > cuts.max_length)
    for path in dict.fromkeys(paths[long]):
        mine = long[paths[long] == path]
        yield Finding(
            int(mine[0]),
            f"no max_length is given, and {release} takes {cuts.max_length:,}: {judged.figure(len(mine))} examples of "
            f"this file are longer, this one {judged.figure(int(judged.rows.tokens[mine[0]]))} tokens; of all it would "
            f"{', '.join(does)}",
            "Set max_length in your training, and say it here with --max-length: every row is then judged by it.",
            {"max_length": cuts.max_length, "longer": len(mine), "tokens": int(judged.rows.tokens[mine[0]])},
        )


@rule(
    "T011",
    "no-generation-tags",
    "error",
    what="The loss is to be on the assistant alone, and the chat template does not mark what the assistant says.",
    why="TRL finds the assistant's tokens by the template's {% generation %} tags. It has training templates for some "
    "texts of templates and stops the run for others; NeMo trains on every token instead.",
    remedy="Give the template {% generation %} tags (--chat-template), or train on prompt and completion columns.",
    example='{"messages": [{"role": "user", "content": "alpha"}, {"role": "assistant", "content": "beta"}]}',
)
def no_generation_tags(judged: Judged) -> Iterator[Finding]:
    """Once a run, at its first conversation."""
    plan, template = judged.plan, judged.template
    if plan.loss_on != "assistant" or template is None or has_generation_tags(template):
        return
    if plan.trainer not in ("trl", "nemo") or (plan.trainer == "trl" and is_known(template)):
        return
    families = judged.rows.table.column("family").to_numpy(zero_copy_only=False)
    talks = np.flatnonzero(judged.rows.measured & (families != "text"))
    if not len(talks):
        return
    does = (
        "stops the run: it has no training template for this one"
        if plan.trainer == "trl"
        else "puts the loss on every token"
    )
    yield Finding(
        int(talks[0]),
        f"the chat template has no {{% generation %}} tags, by which a loss on the assistant alone is masked: "
        f"{plan.preset.release} {does} (examples: {len(talks):,})",
        "Put {% generation %} and {% endgeneration %} around what the assistant says in a copy of the template, and "
        "name it here with --chat-template; or use prompt and completion columns (--loss-on completion).",
        {"examples": len(talks), "trainer": plan.trainer},
    )
