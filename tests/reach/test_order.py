"""The order of roles: what torchtune's and LLaMA-Factory's own code, run on these sequences, took and refused."""

from __future__ import annotations

import pytest

from lint_dataset.judge import judge
from lint_dataset.reach.order import out_of_turn, refused
from tests.reach.test_outcomes import codes, judged, row

NAMES = {"s": "system", "u": "user", "a": "assistant", "t": "tool"}


def roles(letters: str) -> list[str]:
    return [NAMES[letter] for letter in letters]


@pytest.mark.parametrize("letters", ["ua", "sua", "uaua", "uata"])
def test_what_llama_factory_takes_in_either_format(letters: str) -> None:
    assert out_of_turn(roles(letters)) is out_of_turn(roles(letters), merge_tools=False) is None


@pytest.mark.parametrize(
    ("letters", "index"), [("uua", 1), ("uaa", 2), ("au", 0), ("sa", 1), ("uasua", 2), ("ssua", 1)]
)
def test_what_llama_factory_skips(letters: str, index: int) -> None:
    assert out_of_turn(roles(letters)) == index


def test_what_two_tools_said_is_one_message_in_the_openai_format_alone() -> None:
    assert out_of_turn(roles("uatta")) is None
    assert out_of_turn(roles("uatta"), merge_tools=False) == 3


@pytest.mark.parametrize("letters", ["ua", "sua", "uaua", "su", "uau"])
def test_what_torchtune_takes(letters: str) -> None:
    assert refused(roles(letters)) is None


@pytest.mark.parametrize(
    ("letters", "why"),
    [
        ("u", "two messages at least"),
        ("uaa", "message 3 (assistant) does not follow"),
        ("au", "message 1 (assistant) does not follow"),
        ("sa", "message 2 (assistant) does not follow"),
        ("uata", "message 4 (assistant) does not follow"),
        ("uua", "messages 1 and 2 are both the user's"),
        ("uasua", "message 3 is a system message"),
    ],
)
def test_what_torchtune_refuses(letters: str, why: str) -> None:
    assert why in (refused(roles(letters)) or "")


TWICE = row(40, [("user", 1, 9, 10), ("user", 11, 19, 20), ("assistant", 21, 38, 39)])


def test_the_row_and_the_message_are_named() -> None:
    assert (1, "T006") in codes(TWICE, trainer="llama-factory", max_length=99)
    assert codes(TWICE, trainer="torchtune", max_length=99) == [(1, "T007")]
    assert codes(TWICE, trainer="axolotl", max_length=99) == []
    (dropped,) = judge(judged(TWICE, trainer="llama-factory"), ["T006"])
    assert dropped.message.endswith(
        "questions and answers have to alternate, and message 2 (user) stands after message 1 (user)"
    )
    (stops,) = judge(judged(TWICE, trainer="torchtune"), ["T007"])
    assert stops.message.endswith("stops the run here: messages 1 and 2 are both the user's")


def test_texts_are_no_conversations() -> None:
    text = row(40, [("text", 0, 39, 40)], family="text", answers=[{"start": 0, "end": 40}])
    pair = row(40, [("prompt", 0, 20, 20), ("completion", 20, 39, 40)], family="prompt-completion", completion=20)
    pair["answers"] = [{"start": 20, "end": 40}]
    assert codes(text, pair, trainer="torchtune", max_length=99) == []
    assert codes(text, pair, trainer="llama-factory", max_length=99) == [(1, "T006")]
    assert (2, "T002") in codes(text, pair, trainer="llama-factory", max_length=30)
