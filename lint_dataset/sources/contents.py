"""What an open file holds, by the ending of its name."""

from __future__ import annotations

from collections.abc import Iterator

from lint_dataset.sources import example
from lint_dataset.sources.example import RawExample, about_file
from lint_dataset.sources.formats.lines import lines
from lint_dataset.sources.head import not_data
from lint_dataset.sources.registry import format_of
from lint_dataset.sources.stream import Input, Peeked, decompress


def contents(name: str, source: Input) -> Iterator[RawExample]:
    """The rows of a file called ``name``. A file with an ending that nobody knows is read as lines.

    Only a binary table that is not compressed has to be seekable.
    """
    known, compression = format_of(name)
    if compression is not None:
        peeked = Peeked(source.file)
        head, source = peeked.head, decompress(Input(source.path, peeked.file), compression)
    elif known is not None and not known.text:
        head = source.file.read(example.HEAD)
        source.file.seek(0)
    else:
        head = b"a text says itself what it is"
    fault = not_data(head)
    if fault is not None:
        yield about_file(source.path, fault)
        return
    yield from known.read(source) if known is not None else lines(source)
