"""The text report, as a person at a terminal or in a log reads it."""

from __future__ import annotations

import dataclasses
import io
import random
import re
import time

import pytest

from lint_dataset.diagnostics import Diagnostic
from lint_dataset.plan import Plan
from lint_dataset.report import text
from lint_dataset.result import Fits, Result
from tests.report.made import RULES, cut, over, result

ANSI = re.compile(r"\x1b\[[0-9;]*m")


def written(made: Result, *, color: bool = False, width: int | None = None) -> str:
    out = io.StringIO()
    text.write(made, RULES, out, color=color, width=width)
    return out.getvalue()


def test_a_finding_names_file_line_code_and_remedy() -> None:
    lines = written(result(over(317, 11_100_000_000))).splitlines()
    at = lines.index("train.jsonl:317: O001 2,310 tokens need 47.1 GB")
    assert lines[at + 1] == "    help: shorten or split it"


def test_the_findings_of_a_rule_stand_together_the_worst_rule_first_and_share_a_remedy() -> None:
    lines = written(result(cut(1), cut(2), over(3, 1), cut(4))).splitlines()
    assert [line.partition(" O")[0].split(" T")[0].strip().split(" ")[0] for line in lines[:7]] == [
        "train.jsonl:3:",
        "help:",
        "train.jsonl:1:",
        "train.jsonl:2:",
        "train.jsonl:4:",
        "help:",
        "",
    ]


def test_notes_and_what_was_not_judged_come_first_and_last() -> None:
    lines = written(result(cut(1), notes=("an assumption",), unjudged=("no step program for it",))).splitlines()
    assert lines[:3] == ["note: an assumption", "not judged: no step program for it", ""]
    assert "1 warning" in lines[-1]
    assert "Not everything could be judged" in lines[-1]


def test_nothing_found_is_said_only_when_everything_was_judged() -> None:
    assert written(result()).splitlines()[-1] == "Found nothing."
    assert "Not everything" in written(result(unjudged=("no tokenizer",))).splitlines()[-1]


def test_thousands_of_findings_collapse_to_the_worst_and_a_count() -> None:
    sizes = list(range(1, 3001))
    random.Random(0).shuffle(sizes)
    findings = [over(line, size * 10**7) for line, size in enumerate(sizes, 1)]
    report = written(result(*findings, cut(5000)))
    shown = [int(line) for line in re.findall(r"^train\.jsonl:(\d+): O001", report, re.M)]
    assert shown == sorted(line for line, size in enumerate(sizes, 1) if size > 3000 - text.SHOWN)
    assert f"... {3000 - text.SHOWN:,} O001 more" in report
    assert report.index("O001 more") < report.index("train.jsonl:5000: T003")
    assert "--output-format jsonl" in report
    assert "train.jsonl:5000: T003" in report
    assert len(report.splitlines()) < 40


def test_an_error_is_worse_than_a_larger_warning_and_ties_keep_their_lines() -> None:
    warnings = [dataclasses.replace(over(line, 500), severity="warning") for line in range(1, 30)]
    (group,) = text.worst([*warnings, over(40, 1)])
    assert [d.line for d, _ in group.shown] == [*range(1, text.SHOWN), 40]
    assert (group.hidden, group.severities) == (30 - text.SHOWN, ("error", "warning"))


def test_ten_lines_are_all_shown() -> None:
    (group,) = text.worst([over(line, line) for line in range(1, text.SHOWN + 1)])
    assert (len(group.shown), group.hidden) == (text.SHOWN, 0)


def test_a_line_with_many_findings_takes_one_line_of_the_report() -> None:
    report = written(result(*[cut(1)] * 50, *[cut(line) for line in range(2, 20)]))
    shown = re.findall(r"^train\.jsonl:(\d+): T003", report, re.M)
    assert shown == [str(line) for line in range(1, text.SHOWN + 1)]
    assert "train.jsonl:1: T003 the first 7 tokens are cut (and 49 more on this line)" in report
    assert f"... {19 - text.SHOWN} T003 more" in report
    assert re.search(r"68  T003", report)


def test_the_table_has_the_severity_of_the_findings_not_of_the_rule() -> None:
    """Under an estimate most findings of an error's rule are warnings."""
    likely = dataclasses.replace(over(1, 5), severity="warning")
    assert re.search(r"1  O001  out-of-memory  warning$", written(result(likely)), re.M)
    both = written(result(likely, over(2, 5)))
    assert re.search(r"2  O001  out-of-memory  error or warning$", both, re.M)


def test_a_hundred_thousand_findings_are_written_at_once() -> None:
    made = result(*[over(line, line) for line in range(100_000)])
    before = time.process_time()
    report = written(made)
    assert time.process_time() - before < 5
    assert len(report.splitlines()) < 40


def test_the_summary_holds_the_numbers_to_act_on() -> None:
    report = written(result(over(317, 1), cut(5)))
    for part in (
        "1,203 examples in 2 files, 1,200 measured",
        "half up to 310",
        "99 % up to 2,011",
        "train.jsonl:317 with 2,310 tokens peaks at 47.1 GB, 11.1 GB over the budget",
        "weights 10.9 GB + logits 9.2 GB",
        "max_length 1,020 is the longest that fits",
        "37 examples",
        "4 examples",
    ):
        assert part in report
    assert re.search(r"1  O001  out-of-memory  error$", report, re.M)
    assert re.search(r"1  T003  prompt-is-cut  warning$", report, re.M)


def test_the_plan_is_one_line_that_says_what_was_assumed() -> None:
    (line,) = [line for line in written(result()).splitlines() if line.startswith("plan")]
    given, by_trainer, assumed = line.split("; ")
    assert "gemma-3n-E2B, budget 36.0 GB, no max_length" in given
    assert by_trainer.startswith("by TRL 1.16: ")
    assert "gradient checkpointing" in by_trainer
    assert assumed.startswith("assumed: CUDA, TRL 1.16, LoRA, rank 16")
    assert "batch 1" in assumed


def test_what_is_given_is_not_called_assumed() -> None:
    plan = Plan(model="x", device="mps", method="full", trainer="hf", dtype="fp32", batch_size=2, max_length=1024)
    (line,) = [line for line in written(result(plan=plan)).splitlines() if line.startswith("plan")]
    assert line.split("; ")[-1] == "assumed: cut on the right"
    assert "full fine-tuning, fp32 weights, batch 2, max_length 1,024" in line
    assert "rank" not in line


def test_a_run_without_a_model_does_not_list_a_plan_that_nothing_was_judged_by() -> None:
    made = result(plan=Plan())
    summary = dataclasses.replace(made.summary, measured=0, tokens={}, longest_row=None, longest_that_fits=None)
    report = written(dataclasses.replace(made, summary=summary))
    assert "--model" in report
    assert "LoRA" not in report
    assert "GB" not in report


def test_a_run_with_a_tokenizer_alone_speaks_of_what_cuts_and_not_of_memory() -> None:
    made = result(plan=Plan(tokenizer="here", max_length=2048))
    (line,) = [line for line in written(made).splitlines() if line.startswith("plan")]
    assert "tokenizer here, max_length 2,048" in line
    assert "TRL 1.16" in line
    assert not [word for word in ("CUDA", "LoRA", "budget", "checkpointing") if word in line]


def test_no_length_that_fits_is_said() -> None:
    made = result()
    summary = dataclasses.replace(made.summary, longest_that_fits=Fits(None, 0, 0))
    assert "no length fits" in written(dataclasses.replace(made, summary=summary))


def test_colour_changes_nothing_but_colour() -> None:
    made = result(over(1, 5), cut(2), notes=("n",), unjudged=("u",))
    plain = written(made, width=80)
    coloured = written(made, color=True, width=80)
    assert not ANSI.search(plain)
    assert ANSI.search(coloured)
    assert ANSI.sub("", coloured) == plain


@pytest.mark.parametrize("width", [40, 80, 120])
def test_lines_are_wrapped_and_keep_every_word(width: int) -> None:
    made = result(over(1, 5), notes=("many words " * 30,))
    wide, narrow = written(made), written(made, width=width)
    assert narrow.split() == wide.split()
    assert max(map(len, narrow.splitlines())) <= width


def test_a_name_cannot_drive_the_terminal_or_break_the_output() -> None:
    path = "a\x1b[2Jb\nc\udce9\u202e.jsonl"
    made = result(Diagnostic("J001", "error", path, 1, "role \x07 is\r\nnew", "mend\x1b]0;it"))
    report = written(made)
    report.encode("utf-8")
    assert all(line.isprintable() for line in report.splitlines())
    assert "a\\x1b[2Jb\\nc\\udce9\\u202e.jsonl:1: J001 role \\x07 is\\r\\nnew" in report


def test_letters_of_any_language_are_kept() -> None:
    assert "données/训练.jsonl:1: O001" in written(result(over(1, 5, "données/训练.jsonl")))


def test_small_parts_are_one_term_and_the_sum_stays() -> None:
    from lint_dataset.report.summary import _parts

    parts = {"weights": 11 * 10**9, "gradients": 800_000, "logits": 0, "optimizer": 300 * 10**6}
    assert _parts(parts) == "= weights 11.0 GB + optimizer 0.3 GB + other 0.8 MB"
    assert _parts({"weights": 10**9, "logits": 0}) == "= weights 1.0 GB"
