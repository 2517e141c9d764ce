"""--write-kept and --write-rejected: together they are the input, byte for byte."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lint_dataset import Plan, kept, lint
from lint_dataset.usage import UsageError
from tests.loading.kinds import chat, jsonl

GOOD = jsonl([chat()])
pieces = st.lists(
    st.sampled_from([GOOD, b"{bad\n", b"\n", b"\r\n", b'{"text": "caf\xe9"}\n', b"[1]\n", b'{"text": ""}\n', b"null\n"])
    | st.binary(max_size=30).map(lambda piece: piece + b"\n"),
    max_size=8,
)


def split(folder: Path, content: bytes, name: str = "train.jsonl") -> tuple[bytes, bytes, list[dict[str, object]]]:
    """What is kept, what is rejected, and what is said of the latter."""
    path = folder / name
    path.write_bytes(content)
    files = [str(path)]
    kept.write(lint(files, Plan()), files, str(folder / "kept"), str(folder / "rejected"))
    codes = [json.loads(line) for line in (folder / "rejected.codes.jsonl").read_bytes().splitlines()]
    return (folder / "kept").read_bytes(), (folder / "rejected").read_bytes(), codes


def test_lines_that_pass_are_copied_and_the_others_keep_their_codes(tmp_path: Path) -> None:
    content = GOOD + b"{bad\n" + b"\n" + GOOD.replace(b"\n", b"\r\n") + b'{"text": "caf\xe9"}\n' + GOOD.rstrip()
    passing, rejected, codes = split(tmp_path, content)
    assert passing == GOOD + b"\n" + GOOD.replace(b"\n", b"\r\n") + GOOD.rstrip()
    assert rejected == b'{bad\n{"text": "caf\xe9"}\n'
    assert [(about["line"], about["codes"]) for about in codes] == [(2, ["J010"]), (5, ["J009"])]
    assert (tmp_path / "train.jsonl").read_bytes() == content


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=pieces, tail=st.sampled_from([b"", b"{", GOOD.rstrip()]), mark=st.booleans())
@example(lines=[b"[\n", b'{"text": "a"}\n', b"]\n"], tail=b"", mark=False)
@example(lines=[b"\xff\xfe{\x00\n"], tail=b"", mark=False)
def test_kept_and_rejected_are_the_input(tmp_path: Path, lines: list[bytes], tail: bytes, mark: bool) -> None:
    content = (b"\xef\xbb\xbf" if mark else b"") + b"".join(lines) + tail
    passing, rejected, codes = split(tmp_path, content)
    refused = iter(rejected.splitlines(keepends=True) if b"\r" not in rejected else _lines(rejected))
    passed = iter(_lines(passing))
    numbers = {about["line"] for about in codes}
    whole = b"".join(next(refused if n in numbers else passed) for n in range(1, len(_lines(content)) + 1))
    assert whole == content
    assert next(refused, None) is next(passed, None) is None


def _lines(content: bytes) -> list[bytes]:
    """Lines end with a line feed and nothing else."""
    parts = content.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + [parts[-1]] * bool(parts[-1])


def test_compressed_files_are_copied_unpacked_or_compressed_by_the_name(tmp_path: Path) -> None:
    passing, rejected, _ = split(tmp_path, gzip.compress(GOOD + b"{bad\n"), "train.jsonl.gz")
    assert (passing, rejected) == (GOOD, b"{bad\n")
    files = [str(tmp_path / "train.jsonl.gz")]
    kept.write(lint(files, Plan()), files, str(tmp_path / "kept.gz"), None)
    assert gzip.decompress((tmp_path / "kept.gz").read_bytes()) == GOOD


def test_what_a_file_is_as_a_whole_rejects_no_line_and_a_file_that_was_not_read_all_of_them(tmp_path: Path) -> None:
    late = jsonl([chat(), chat([{"type": "text", "text": "a"}])])
    assert split(tmp_path, b"\xef\xbb\xbf" + late)[0] == b"\xef\xbb\xbf" + late
    pretty = json.dumps(chat(), indent=1).encode()
    passing, rejected, codes = split(tmp_path, pretty)
    assert (passing, rejected) == (b"", pretty)
    assert {tuple(about["codes"]) for about in codes} == {("J007",)}  # type: ignore[arg-type]


def test_a_file_that_changed_since_is_not_copied(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    path.write_bytes(GOOD)
    result = lint([str(path)], Plan())
    for content in (GOOD.replace(b"hi", b"ho"), GOOD * 2, b"", b"\n" + GOOD):
        path.write_bytes(content)
        with pytest.raises(UsageError, match="changed"):
            kept.write(result, [str(path)], str(tmp_path / "kept"), None)
        assert not (tmp_path / "kept").exists()


def test_two_files_without_a_last_line_end_are_not_glued_together(tmp_path: Path) -> None:
    files = [str(tmp_path / name) for name in ("a.jsonl", "b.jsonl")]
    for path in files:
        Path(path).write_bytes(GOOD.rstrip())
    kept.write(lint(files, Plan()), files, str(tmp_path / "kept"), None)
    assert (tmp_path / "kept").read_bytes() == GOOD + GOOD.rstrip()


def test_a_byte_order_mark_is_not_left_between_lines(tmp_path: Path) -> None:
    """It would break the line that it stands before, which was read without it."""
    files = [str(tmp_path / name) for name in ("a.jsonl", "b.jsonl")]
    for path in files:
        Path(path).write_bytes(b"\xef\xbb\xbf" + GOOD)
    kept.write(lint(files, Plan(), ignore=["J031"]), files, str(tmp_path / "kept"), None)
    assert (tmp_path / "kept").read_bytes() == b"\xef\xbb\xbf" + GOOD + GOOD


@pytest.mark.parametrize("name", ["kept.parquet", "kept.jsonl.zst", "kept.json", "hf:me/kept"])
def test_a_name_that_promises_something_else_than_lines_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"end it in \.jsonl"):
        kept.check([], [name])
    kept.check([], ["kept.jsonl", "kept.jsonl.GZ", "kept", "kept.txt"])
