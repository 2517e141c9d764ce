"""What counts are compared with: the library's own ``apply_chat_template(..., tokenize=True)``, asked directly."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from lint_dataset.measure import measure_batch
from lint_dataset.measurements import schema, unpack
from lint_dataset.processors.loading import Processor


def ids_of(
    processor: Processor, messages: list[dict[str, Any]], tools: list[Any] | None = None, **variables: Any
) -> list[int]:
    """The token ids as the library gives them: a list, a batch of one, or a mapping, depending on its version."""
    holder = processor.whole or processor.tokenizer
    options = variables if tools is None else {**variables, "tools": tools}
    try:
        found = holder.apply_chat_template(messages, tokenize=True, **options)
    except TypeError:
        # Processors of transformers 4 render texts, and tokenize nothing but parts.
        parts = [{**message, "content": [{"type": "text", "text": message["content"]}]} for message in messages]
        assert holder.apply_chat_template(parts, tokenize=False) == holder.apply_chat_template(messages, tokenize=False)
        found = holder.apply_chat_template(parts, tokenize=True, **options)
    if not isinstance(found, list):
        found = found["input_ids"]
    return list(found[0] if found and isinstance(found[0], list) else found)


def measured(processor: Processor | None, rows: list[Any], folder: str = ".") -> list[dict[str, Any]]:
    """Rows (JSON objects, or bytes as they stand) measured, one dict each, with ``codes`` for their faults."""
    found = measured_batch(processor, rows, folder).to_pylist()
    for row in found:
        row["faults"] = unpack(row["faults"])
        row["codes"] = [fault.code for fault in row["faults"]]
    return found


def measured_batch(processor: Processor | None, rows: list[Any], folder: str = ".") -> pa.RecordBatch:
    """The same as the batch that measuring gives."""

    raws = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
    count = len(raws)
    batch = pa.RecordBatch.from_arrays(
        [
            pa.array([f"{folder}/train.jsonl"] * count, pa.string()),
            pa.array(range(1, count + 1), pa.int64()),
            pa.array(raws, pa.binary()),
            pa.array([[]] * count, pa.map_(pa.string(), pa.large_binary())),
            pa.array([[]] * count, schema().field("faults").type),
        ],
        names=["path", "line", "raw", "blobs", "faults"],
    )
    out = measure_batch(batch, processor)
    assert out.schema.equals(schema())
    return out


def decoded(processor: Processor, ids: list[int], span: dict[str, int] | tuple[int, int]) -> str:
    start, end = (span["start"], span["end"]) if isinstance(span, dict) else span
    return str(processor.tokenizer.decode(ids[start:end], clean_up_tokenization_spaces=False))


def chat(*texts: str, system: str | None = None) -> list[dict[str, str]]:
    """Messages in turn, from the user on."""
    roles = ("user", "assistant")
    messages = [{"role": roles[i % 2], "content": text} for i, text in enumerate(texts)]
    return messages if system is None else [{"role": "system", "content": system}, *messages]
