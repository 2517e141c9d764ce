"""T: the texts by which a trainer looks for where an answer begins."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from lint_dataset.rules import Finding, Judged, rule

#: The control tokens of a marker: ``<|im_start|>``, ``<start_of_turn>``, ``<｜Assistant｜>``, ``[/INST]``.
_CONTROL = re.compile(r"<[^<>\s]+>|\[/?[A-Z_]+\]")


@rule(
    "T012",
    "marker-not-found",
    "error",
    what="The marker by which the trainer looks for answers (--response-marker) is not what the chat template prints, "
    "or ends in a space, which becomes a part of the token behind it.",
    why="train_on_responses_only and the collators that take a response_template search the tokens of a row for those "
    "of the marker. Where they are not found every token is masked: the loss is 0 or NaN, or the run stops.",
    remedy="Give the trainer the header that this template prints before an answer.",
    example='response_part="<|im_start|>assistant\\n" under Gemma, whose template prints <start_of_turn>model',
)
def marker_not_found(judged: Judged) -> Iterator[Finding]:
    """Once a run, at the first row that is judged by the marker."""
    marker = judged.plan.response_marker
    measured = np.flatnonzero(judged.rows.measured)
    if marker is None or not len(measured):
        return
    marker = marker.replace("\\n", "\n")
    data = {"marker": marker, "examples": len(measured)}
    if marker.endswith(" "):
        yield Finding(
            int(measured[0]),
            f"the marker {marker!r} ends in a space, which becomes a part of the next word's token: its own tokens are "
            f"found in no row where a word follows (examples: {len(measured):,})",
            f"Leave the space out: {marker.rstrip(' ')!r}.",
            data,
        )
    families = judged.rows.table.column("family").to_numpy(zero_copy_only=False)
    talks = measured[~np.isin(families[measured], ("text", "prompt-completion"))]
    template = judged.template
    if template is None or not len(talks):
        return
    absent = [token for token in _CONTROL.findall(marker) if token not in template]
    if absent:
        printed = ", ".join(list(dict.fromkeys(_CONTROL.findall(template)))[:6])
        instead = f"but {printed}" if printed else "nor others"
        yield Finding(
            int(talks[0]),
            f"the marker {marker!r} is nowhere in what the chat template prints: it knows no {', '.join(absent)} "
            f"({instead}), so that every token is masked (examples: {len(talks):,})",
            "Give the trainer the header that this template prints before an answer.",
            {**data, "examples": len(talks), "absent": absent},
        )
