"""Under an estimate a finding is certain only where the fewest tokens have it too."""

from __future__ import annotations

import dataclasses

from lint_dataset.diagnostics import Diagnostic, Severity
from lint_dataset.estimates.possible import possible


def found(code: str, line: int = 1, severity: Severity = "error", message: str = "m") -> Diagnostic:
    return Diagnostic(code, severity, "d.jsonl", line, message, "Do it.", {"tokens": 7, "answer": 1, "of": 1})


def codes(diagnostics: list[Diagnostic]) -> list[tuple[str, str]]:
    return [(diagnostic.code, diagnostic.severity) for diagnostic in diagnostics]


def test_what_even_the_fewest_tokens_have_is_an_error() -> None:
    (only,) = possible([found("O001")], [found("O001")], [found("O001")])
    assert (only.severity, only.message, only.data["certain"]) == ("error", "m", True)


def test_what_only_the_likely_number_has_is_possible() -> None:
    (only,) = possible([], [found("T001")], [found("T001")])
    assert (only.severity, only.message, only.data) == (
        "warning",
        "possible: m",
        {"tokens": 7, "answer": 1, "of": 1, "estimated": True, "certain": False},
    )


def test_what_only_the_most_tokens_have_is_reported_too() -> None:
    assert codes(possible([], [], [found("T002")])) == [("T002", "warning")]


def test_a_row_that_is_found_already_is_not_found_again_with_the_most_tokens() -> None:
    assert codes(possible([found("T002")], [found("T002")], [found("T001")])) == [("T002", "error")]


def test_a_certain_loss_is_said_beside_a_possible_greater_one() -> None:
    result = possible([found("T002")], [found("T001")], [found("T001")])
    assert codes(result) == [("T001", "warning"), ("T002", "error")]


def test_a_warning_stays_a_warning() -> None:
    assert codes(possible([found("T003", severity="warning")], [found("T003", severity="warning")], [])) == [
        ("T003", "warning")
    ]


def test_findings_that_no_token_decides_are_untouched() -> None:
    fault = found("M001")
    assert possible([fault], [fault], [fault]) == [fault]


def test_rows_do_not_vouch_for_one_another() -> None:
    result = possible([found("O001", 2)], [found("O001", 1), found("O001", 2)], [])
    assert [(d.line, d.severity) for d in result] == [(1, "warning"), (2, "error")]


def test_a_cut_that_may_fall_between_two_answers_is_not_certain() -> None:
    def cut(answer: int) -> Diagnostic:
        return dataclasses.replace(found("T002"), data={"tokens": 7, "answer": answer, "of": 9})

    assert codes(possible([cut(5)], [cut(5)], [cut(4)])) == [("T002", "warning")]
    assert codes(possible([cut(5)], [cut(5)], [cut(5)])) == [("T002", "error")]


def test_what_to_do_is_enough_for_the_most_tokens() -> None:
    def needs(tokens: int) -> Diagnostic:
        return dataclasses.replace(found("T001"), remedy=f"Raise max_length to {tokens}.", data={"tokens": tokens})

    (one,) = possible([needs(90)], [needs(100)], [needs(110)])
    assert one.remedy == "Raise max_length to 110."
    assert one.data["tokens"] == 100
