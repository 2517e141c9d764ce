"""What it costs to know of each row what it is among the others: its outline, and the identities of what it holds.

    python -m tests.benchmarks.whole_file FILE.jsonl [TOKENIZER.json]

prints the seconds of CPU for parsing and converting the rows, for their outlines, for their identities, for the
grouping by file and block and the forecast, and, with a tokenizer, for encoding the rows as they are; and the share of
the first and the last that all of it takes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from lint_dataset.conversations import convert, parse
from lint_dataset.conversations.identity import answers_of, content_of
from lint_dataset.loading.blocks import Blocks
from lint_dataset.loading.forecast import forecast
from lint_dataset.loading.gather import blocks_of
from lint_dataset.loading.outline import outline


def main(path: str, tokenizer: str | None) -> None:
    """Time each step over all rows of a file."""
    with open(path, "rb") as file:
        lines = file.read().splitlines()
    parsing, parsed = timed(lambda: [parse(line)[0] for line in lines])
    rows = [row for row in parsed if row is not None]
    converting, conversations = timed(lambda: [convert(row)[0] for row in rows])
    outlining, outlines = timed(lambda: [outline(row) for row in rows])
    held = [conversation for conversation in conversations if conversation is not None]
    naming, _ = timed(lambda: [(content_of(conversation), answers_of(conversation)) for conversation in held])
    blocks = Blocks()
    numbers = [blocks.next(len(line) + 1) for line in lines]
    columns = {"path": [path] * len(rows), "block": numbers[: len(rows)], "outline": outlines}
    table = pa.table({**columns, "line": list(range(1, len(rows) + 1))})
    grouping, _ = timed(lambda: [forecast(found) for found in blocks_of(table).values()])
    extra = outlining + naming + grouping
    size = sum(map(len, lines)) / 1e6
    print(f"{len(rows):,} rows, {size:.1f} MB")
    print(f"parse {parsing:.2f} s, convert {converting:.2f} s")
    print(f"outline {outlining:.2f} s, identities {naming:.2f} s, grouping and forecast {grouping:.2f} s")
    print(f"together {extra / (parsing + converting):.0%} of parsing and converting")
    if tokenizer is not None:
        from tokenizers import Tokenizer

        encoder = Tokenizer.from_file(tokenizer)
        texts = [line.decode("utf-8", "replace") for line in lines]
        encoding, _ = timed(lambda: encoder.encode_batch_fast(texts))
        print(
            f"encode {encoding:.2f} s: together {extra / (parsing + converting + encoding):.1%} of reading and encoding"
        )


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of CPU that it took, in all threads, and what came out."""
    start = time.process_time()
    done = work()
    return time.process_time() - start, done


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)
