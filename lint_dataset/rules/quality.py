"""J: what costs nothing to see once the rows are in hand: the same twice, the same answer to everything, outliers."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np

from lint_dataset.conversations.identity import BESIDE
from lint_dataset.rows import Ints
from lint_dataset.rules import Finding, Judged, rule

#: So many rows with one answer, and such a share of those that answer, are more than chance.
_SAME_ANSWERS = 20
_SAME_SHARE = 0.05
#: So many times the median is an outlier, in a file with enough rows to have one, and of a length that costs anything.
_TIMES = 20
_ENOUGH_ROWS = 20
_LEAST_TOKENS = 1000


def _numbered(judged: Judged, column: str) -> Ints:
    """A number for each row, the same where the column says the same; -1 where it says nothing."""
    import pyarrow.compute as pc

    values = judged.rows.table.column(column).combine_chunks()
    if column == "content" and pc.any(pc.ends_with(values, BESIDE)).as_py():
        # Files that are named by a path are the same only beside the same file.
        folders = pc.dictionary_encode(judged.rows.table.column("path").combine_chunks())
        names = [os.path.dirname(path) for path in folders.dictionary.to_pylist()]
        beside = folders.dictionary.from_pandas(names).take(folders.indices)
        values = pc.if_else(pc.ends_with(values, BESIDE), pc.binary_join_element_wise(values, beside, ""), values)
    return np.asarray(pc.dictionary_encode(values).indices.fill_null(-1).to_numpy(), np.int64)


def _files(judged: Judged) -> Ints:
    return _numbered(judged, "path")


def _first_of(groups: Ints) -> Ints:
    """For each row the first one of its group."""
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    found: Ints = first[inverse.reshape(-1)].astype(np.int64)
    return found


@rule(
    "J030",
    "duplicate-row",
    "warning",
    what="A row is the same conversation as one above it in the file, whatever else its columns say.",
    why="It is trained on twice an epoch, which few mean to: it weighs double, and is learned by heart sooner.",
    remedy="Delete one of them, unless it is meant to weigh more.",
    example='{"id": 1, "prompt": "2+2=", "completion": "4"}\n{"id": 2, "prompt": "2+2=", "completion": "4"}',
)
def _duplicate(judged: Judged) -> Iterator[Finding]:
    content, files = _numbered(judged, "content"), _files(judged)
    first = _first_of(files * (content.max(initial=0) + 1) + content)
    lines = judged.rows.table.column("line").to_numpy()
    for row in np.flatnonzero((content >= 0) & (first != np.arange(len(first)))).tolist():
        line = int(lines[first[row]])
        text = f"the same conversation as line {line:,}"
        yield Finding(row, text, "Delete one of them, unless it is meant to weigh more.", {"first": line})


@rule(
    "J031",
    "duplicate-across-files",
    "warning",
    what="A row is the same conversation as one of another file that was given: usually train against eval.",
    why="An evaluation on rows that were trained on says nothing: the loss is low because the rows are known.",
    remedy="Keep the row in one of the files.",
    example="train.jsonl:5 and eval.jsonl:3 hold the same messages",
)
def _duplicate_across(judged: Judged) -> Iterator[Finding]:
    content, files = _numbered(judged, "content"), _files(judged)
    first = _first_of(content)
    own = _first_of(files * (content.max(initial=0) + 1) + content) == np.arange(len(first))
    paths, lines = judged.rows.table.column("path"), judged.rows.table.column("line").to_numpy()
    for row in np.flatnonzero((content >= 0) & own & (files != files[first])).tolist():
        path, line = paths[int(first[row])].as_py(), int(lines[first[row]])
        data = {"path": path, "line": line}
        yield Finding(row, f"the same conversation as {path}:{line}", "Keep the row in one of the files.", data)


@rule(
    "J032",
    "same-answer",
    "note",
    what=(
        f"One answer stands in at least {_SAME_ANSWERS} rows and more than {_SAME_SHARE:.0%} of those of a file whose "
        "other answers are mostly different from each other (so not in a set of labels)."
    ),
    why="A refusal, an error message or a placeholder that a generator wrote often is what the model learns to say.",
    remedy="Look at these rows: --measurements lists them (column said).",
    example='500 of 4,000 rows answer "I am sorry, I cannot help with that."',
)
def _same_answer(judged: Judged) -> Iterator[Finding]:
    said, files = _numbered(judged, "said"), _files(judged)
    for file in np.unique(files):
        rows = np.flatnonzero((files == file) & (said >= 0))
        answers, first, counts = np.unique(said[rows], return_index=True, return_counts=True)
        for index in np.argsort(first):
            count, others = int(counts[index]), len(rows) - int(counts[index])
            often = count >= _SAME_ANSWERS and count > _SAME_SHARE * len(rows)
            if often and len(answers) - 1 >= others / 2:
                share = count / len(rows)
                text = f"the answer is the same in {count:,} of {len(rows):,} rows ({share:.0%}): this is the first"
                data = {"rows": count, "of": len(rows)}
                yield Finding(
                    int(rows[first[index]]), text, "Look at these rows: is it an answer to all of them?", data
                )


@rule(
    "J033",
    "much-longer",
    "note",
    what=f"A row has more than {_TIMES} times the tokens of the file's median, and at least {_LEAST_TOKENS:,}.",
    why="Such a row is rarely like the others: a whole document, a log, a generator's loop. It sets the peak memory.",
    remedy="Look at it: shorten or split it, or leave it out.",
    example="a row of 12,000 tokens in a file whose median is 400",
)
def _much_longer(judged: Judged) -> Iterator[Finding]:
    tokens, files = judged.rows.tokens, _files(judged)
    for file in np.unique(files):
        rows = np.flatnonzero((files == file) & judged.rows.measured)
        if len(rows) < _ENOUGH_ROWS:
            continue
        median = int(np.percentile(tokens[rows], 50, method="inverted_cdf"))
        for row in rows[tokens[rows] > max(_TIMES * median, _LEAST_TOKENS - 1)].tolist():
            times, count = tokens[row] / max(median, 1), int(tokens[row])
            text = f"{judged.figure(count)} tokens, {times:,.0f} times the median of the file ({judged.figure(median)})"
            remedy = "Look at it: shorten or split it, or leave it out."
            yield Finding(row, text, remedy, {"tokens": count, "median": median})
