"""Whatever bytes the lines of a file are: each line is measured or reported, and none is lost."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lint_dataset import Plan, lint, sources
from lint_dataset.measure import measure

#: Files of which no line is judged, and are told so.
WHOLE = {"J002", "J003", "J005", "J007", "J025"}

values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
keys = st.sampled_from(
    ["messages", "conversations", "prompt", "completion", "text", "tools", "role", "content", "from", "value", "type"]
)
rows = st.recursive(
    values,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=10,
).map(lambda value: json.dumps(value).encode())
lines = st.lists(rows | st.binary(max_size=40).map(lambda line: line.replace(b"\n", b" ")), max_size=6)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=lines.map(b"\n".join), ended=st.booleans())
@example(content=b'{"messages": "\\ud800"}\n{"messages": {"": NaN}}', ended=True)
@example(content=b'{"text": "a"}\n\n{"\\u0000": 1e999}\n' + b"[" * 3000, ended=False)
def test_each_line_is_judged_or_reported(tmp_path: Path, content: bytes, ended: bool) -> None:
    content += b"\n" * ended
    path = tmp_path / "any.jsonl"
    path.write_bytes(content)
    table = measure(sources.read(str(path)), None).to_pylist()
    result = lint([str(path)], Plan())
    assert all(found.message and found.remedy and "\n" not in found.message for found in result.diagnostics)
    if any(fault["code"] in WHOLE for row in table for fault in row["faults"]):
        assert {found.code for found in result.diagnostics} & WHOLE
        return
    read = content.count(b"\n") + (not content.endswith(b"\n") and bool(content))
    seen = Counter(row["line"] for row in table if row["hash"] is not None or _skipped(row))
    assert seen == Counter(range(1, read + 1))
    assert result.summary.examples == sum(row["hash"] is not None for row in table)
    reported = {found.line for found in result.diagnostics}
    unread = {row["line"] for row in table if row["hash"] is not None and row["family"] is None}
    assert unread <= reported


def _skipped(row: dict[str, Any]) -> bool:
    return any(fault["code"] in ("J008", "J015") for fault in row["faults"])
