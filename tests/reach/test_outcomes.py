"""What becomes of a row, by trainer, and how it is told."""

from __future__ import annotations

import dataclasses
import hashlib
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lint_dataset.judge import judge, look
from lint_dataset.measurements import schema
from lint_dataset.memory import Verdicts
from lint_dataset.notes import notes
from lint_dataset.plan import Plan, PlanError
from lint_dataset.reach.training_templates import KNOWN, is_known
from lint_dataset.report.summary import plan_line
from lint_dataset.rules import Judged, all_rules
from lint_dataset.summary import by_default, what_if

#: Question, answer, question, answer: (role, start, end, end of marker).
TALK = [("user", 4, 96, 97), ("assistant", 100, 195, 198), ("user", 201, 205, 206), ("assistant", 210, 290, 299)]


def row(tokens: int, turns: list[tuple[str, int, int, int]], **more: Any) -> dict[str, Any]:
    """A measured row; a turn is (role, start, end of what is said, end of the marker)."""
    names = ("role", "start", "end", "marker_end")
    return {
        "path": "train.jsonl",
        "line": 1,
        "hash": "x",
        "family": "messages",
        "tokens": tokens,
        "turns": [{**dict(zip(names, turn, strict=True)), "trained": None} for turn in turns],
        "answers": [{"start": start, "end": end} for role, start, _, end in turns if role == "assistant"],
        "completion": None,
        "media": [],
        "faults": [],
    } | more


def judged(*rows: dict[str, Any], template: str | None = None, **plan: Any) -> Judged:
    table = pa.Table.from_pylist([{**each, "line": i + 1} for i, each in enumerate(rows)], schema())
    return look(table, Plan(**plan), None, template=template)


def found(*rows: dict[str, Any], **plan: Any) -> list[tuple[int, str, dict[str, Any]]]:
    findings = judge(judged(*rows, **plan), [code for code in all_rules() if code.startswith("T")])
    return [(d.line, d.code, dict(d.data)) for d in findings]


def codes(*rows: dict[str, Any], **plan: Any) -> list[tuple[int, str]]:
    return [(line, code) for line, code, _ in found(*rows, **plan)]


SHORT, LONG = row(50, [("user", 4, 36, 37), ("assistant", 40, 48, 49)]), row(300, TALK)
PROMPT = row(400, [("user", 4, 346, 347), ("assistant", 350, 390, 399)])


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        ({"trainer": "axolotl"}, [(2, "T006"), (3, "T006")]),
        ({"trainer": "axolotl", "overlong": "cut"}, [(2, "T001"), (2, "T002"), (3, "T001")]),
        ({"trainer": "axolotl", "overlong": "raise"}, [(2, "T007"), (3, "T007")]),
        ({"trainer": "ms-swift"}, [(2, "T006"), (3, "T006")]),
        ({"trainer": "ms-swift", "overlong": "split"}, [(2, "T009"), (3, "T009")]),
        ({"trainer": "trl", "packing": "bfd_split"}, [(2, "T009"), (3, "T009")]),
        ({"trainer": "trl", "packing": "bfd"}, [(2, "T001"), (2, "T002"), (3, "T001")]),
        ({"trainer": "llama-factory"}, [(2, "T001"), (2, "T002"), (2, "T005"), (3, "T005")]),
        ({"trainer": "llama-factory", "loss_on": "last"}, [(3, "T005")]),
    ],
)
def test_each_trainer_has_its_own_findings(plan: dict[str, Any], expected: list[tuple[int, str]]) -> None:
    assert codes(SHORT, LONG, PROMPT, max_length=150, **plan) == expected


@pytest.mark.parametrize(
    ("plan", "outcome"),
    [
        ({"trainer": "trl", "loss_on": "assistant"}, "dropped"),
        ({"trainer": "trl==1.4", "loss_on": "assistant"}, "no-loss"),
        ({"trainer": "trl", "loss_on": "all"}, "prompt-alone"),
        ({"trainer": "unsloth", "loss_on": "assistant"}, "dropped"),
        ({"trainer": "unsloth"}, "prompt-alone"),
        ({"trainer": "mlx-lm", "loss_on": "last"}, "nan"),
        ({"trainer": "nemo"}, "prompt-alone"),
        ({"trainer": "torchtune"}, "no-loss"),
        ({"trainer": "openai"}, "no-loss"),
        ({"trainer": "axolotl", "overlong": "cut"}, "no-loss"),
        ({"trainer": "axolotl", "overlong": "cut", "packing": "sample_packing"}, "dropped"),
    ],
)
def test_what_becomes_of_a_row_whose_answer_is_gone_is_told_apart(plan: dict[str, Any], outcome: str) -> None:
    (finding,) = found(SHORT, PROMPT, max_length=150, **plan)
    assert finding[:2] == (2, "T001")
    assert finding[2]["outcome"] == outcome


def test_a_cut_answer_that_torchtune_ends_is_said_to_look_finished() -> None:
    (finding,) = found(row(300, TALK[:2]), max_length=150, trainer="torchtune")
    assert (finding[1], finding[2]["outcome"], finding[2]["lost"]) == ("T002", "sealed", 45)


def test_one_row_without_an_answer_stops_an_assistant_only_run_of_trl() -> None:
    rows = (SHORT, row(30, [("user", 4, 28, 29)]))
    assert codes(*rows, max_length=150, loss_on="assistant") == [(2, "T007")]
    assert codes(*rows, max_length=150, loss_on="all") == []


def test_a_row_without_a_question_stops_mlx_lm_where_the_prompt_is_masked() -> None:
    alone = row(50, [("assistant", 4, 48, 49)])
    assert codes(SHORT, alone, max_length=150, trainer="mlx-lm", loss_on="last") == [(2, "T007")]
    assert codes(SHORT, alone, max_length=150, trainer="mlx-lm") == []


def test_rows_that_end_with_a_question_are_dropped_by_llama_factory() -> None:
    ends = row(60, [("user", 4, 10, 11), ("assistant", 15, 30, 31), ("user", 34, 58, 59)])
    text = row(40, [], family="text", answers=[{"start": 0, "end": 40}])
    assert codes(SHORT, ends, text, max_length=150, trainer="llama-factory") == [(2, "T006"), (3, "T006")]
    assert codes(SHORT, text, max_length=150, trainer="llama-factory", loss_on="all") == []
    # No cut takes anything from a row that is dropped for what it is, and no length would save it.
    assert codes(SHORT, ends, text, max_length=19, trainer="llama-factory")[-2:] == [(2, "T006"), (3, "T006")]


def test_a_run_that_trains_on_nothing_is_an_error_of_its_own() -> None:
    assert (1, "T008") in codes(PROMPT, PROMPT, max_length=150, trainer="trl", loss_on="assistant")
    assert (1, "T008") not in codes(PROMPT, SHORT, max_length=150, trainer="trl", loss_on="assistant")


def test_a_default_that_would_cut_is_found_once_a_file() -> None:
    rows = [row(1400, [("assistant", 1000, 1390, 1399)]), row(1500, [("assistant", 1200, 1490, 1499)]), SHORT]
    ((line, code, data),) = found(*rows, trainer="trl")
    assert (line, code, data["max_length"], data["longer"]) == (1, "T010", 1024, 2)
    (finding,) = judge(judged(*rows, trainer="trl"), ["T010"])
    assert finding.message.endswith("of all it would cut 1 inside an answer, lose a whole answer of 1")
    cuts = by_default(judged(*rows, trainer="trl"))
    assert cuts is not None
    assert (cuts.cut, cuts.unseen, cuts.dropped) == (1, 1, 0)
    cuts = by_default(judged(*rows, trainer="axolotl"))
    assert cuts is not None
    assert (cuts.max_length, cuts.cut, cuts.unseen, cuts.dropped) == (512, 0, 0, 2)
    assert found(*rows, trainer="ms-swift") == []
    assert found(*rows, trainer="trl", max_length=2000) == []


def test_packing_makes_every_step_as_long_as_max_length() -> None:
    packed = judged(SHORT, LONG, max_length=150, packing="bfd")
    assert packed.reach.tokens.tolist() == [50, 150]
    assert packed.reach.step.tolist() == [150, 150]
    assert Plan(packing="bfd").max_length == 1024
    with pytest.raises(PlanError, match="packing fills sequences"):
        Plan(trainer="ms-swift", packing="packing")
    assert any(note.startswith("packing: every step is 1 x 150 tokens") for note in notes(packed))


@pytest.mark.parametrize(
    ("template", "plan", "expected"),
    [
        ("{{ messages }}", {"trainer": "trl", "loss_on": "assistant"}, [(1, "T011")]),
        ("{{ messages }}", {"trainer": "nemo"}, [(1, "T011")]),
        ("{{ messages }}", {"trainer": "trl"}, []),
        ("{{ messages }}", {"trainer": "unsloth", "loss_on": "assistant"}, []),
        ("{%- generation -%}x{% endgeneration %}", {"trainer": "trl", "loss_on": "assistant"}, []),
        (None, {"trainer": "trl", "loss_on": "assistant"}, []),
    ],
)
def test_an_assistant_only_loss_needs_generation_tags(
    template: str | None, plan: dict[str, Any], expected: list[tuple[int, str]]
) -> None:
    assert codes(SHORT, LONG, max_length=400, template=template, **plan) == expected


def test_a_template_that_trl_has_a_training_template_for_is_fine() -> None:
    changed = "{{ messages }}"
    assert not is_known(changed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(KNOWN, "made", hashlib.sha256(changed.encode()).hexdigest()[:16])
        assert codes(SHORT, max_length=400, template=changed, loss_on="assistant") == []


def test_dropped_rows_are_counted_first() -> None:
    (note,) = (note for note in notes(judged(SHORT, LONG, trainer="axolotl", max_length=150)) if "leaves out" in note)
    assert note == "axolotl 0.19 leaves out 1 of 2 examples (50.0 %) and names none of them"


def test_media_change_what_is_cut() -> None:
    clip = {"kind": "image", "start": 200, "end": 240, "seconds": None}
    seen = row(300, TALK, media=[clip])
    kept = judged(seen, trainer="ms-swift", overlong="cut", max_length=150).reach.kept
    assert list(zip(kept.start.tolist(), kept.end.tolist(), strict=True)) == [(0, 110), (200, 240)]
    assert judged(seen, SHORT, trainer="axolotl", max_length=150).reach.tokens.tolist() == [300, 50]


@pytest.mark.parametrize(
    "plan",
    [
        {"trainer": "axolotl", "overlong": "split"},
        {"trainer": "axolotl", "truncation_side": "left"},
        {"trainer": "mlx-lm", "packing": "bfd", "max_length": 9},
        {"trainer": "axolotl==0.1"},
        {"trainer": "trl==0.9"},
        {"trainer": "trl==newest"},
        {"trainer": "trl==1.17"},
        {"trainer": "trl=="},
        {"trainer": "hf== "},
    ],
)
def test_what_a_trainer_cannot_do_is_refused(plan: dict[str, Any]) -> None:
    with pytest.raises(PlanError) as raised:
        Plan(**plan)
    assert "\n" not in str(raised.value)


def test_a_release_keeps_its_own_defaults_and_goes_with_its_trainer() -> None:
    plan = Plan(trainer="TRL==1.4", packing="bfd")
    assert (plan.trainer, plan.loss, plan.preset.release) == ("trl", "logits", "TRL 1.4")
    assert Plan(trainer="trl==1.7").loss == "chunked"
    other = plan.but(trainer="hf")
    assert (other.trainer_release, other.packing) == (None, "none")
    assert plan.but(max_length=9).packing == "bfd"


def remembered(looked: Judged, peak: int, fits: int | None) -> Judged:
    """The same rows with a peak of so many bytes each, and the longest step that fits."""
    rows = len(looked.rows)
    band = {"peak": np.full(rows, peak), "low": np.full(rows, peak), "high": np.full(rows, peak)}
    return dataclasses.replace(
        looked, memory=Verdicts(**band, replayed=np.ones(rows, np.bool_), basis="made", longest_that_fits=fits)
    )


def test_a_packed_data_set_is_out_of_memory_once() -> None:
    packed = judged(SHORT, LONG, SHORT, max_length=150, packing="bfd", batch_size=8, budget=10**9)
    (finding,) = judge(remembered(packed, 3 * 10**9, 40), ["O001"])
    assert finding.line == 1
    assert finding.message.startswith("every packed step of 8 x 150 tokens needs 3.0 GB")
    plain = judged(SHORT, LONG, SHORT, max_length=150, budget=10**9)
    assert len(judge(remembered(plain, 3 * 10**9, 40), ["O001"])) == 3


def test_what_else_would_make_it_fit() -> None:
    looked = judged(LONG, budget=10**9, batch_size=8, trainer="hf")
    assert looked.memory is None
    over = remembered(looked, 3 * 10**9, 40)
    (alone,) = judge(over, ["O001"])
    # Nothing else is at hand, so nothing else is named.
    assert alone.remedy.endswith("does not even fit by itself.")
    assert over.memory is not None
    over = dataclasses.replace(
        over, memory=dataclasses.replace(over.memory, longest_with={"--gradient-checkpointing": 9000})
    )
    (alone,) = judge(over, ["O001"])
    assert alone.remedy.endswith("does not even fit by itself. With --gradient-checkpointing 9,000 tokens fit.")
    kept = remembered(judged(LONG, budget=10**9, batch_size=8, trainer="trl"), 3 * 10**9, 40)
    assert kept.memory is not None
    kept = dataclasses.replace(kept, memory=dataclasses.replace(kept.memory, batch_that_fits=3))
    (three,) = judge(kept, ["O001"])
    assert three.remedy.endswith("Or take a batch of 3, the largest in which the heaviest row fits.")
    assert three.data["batch_that_fits"] == 3


@pytest.mark.parametrize(
    ("fits", "said"), [(None, "no length fits"), (250, "has 250 tokens"), (299, "A max_length of 299 keeps it whole")]
)
def test_no_max_length_is_advised_that_would_not_fit(fits: int | None, said: str) -> None:
    looked = remembered(judged(LONG, max_length=150, budget=10**9), 10, fits)
    (finding,) = judge(looked, ["T001"])
    assert said in finding.remedy
    assert finding.data["needs"] == 299


def test_a_setting_that_keeps_an_example_whole_is_named_before_it_is_dropped() -> None:
    looked = remembered(judged(LONG, max_length=150, budget=10**9), 10, 250)
    assert looked.memory is not None
    options = {"--loss chunked": 280, "--gradient-checkpointing": 300}
    looked = dataclasses.replace(looked, memory=dataclasses.replace(looked.memory, longest_with=options))
    (finding,) = judge(looked, ["T001"])
    assert finding.remedy.startswith(
        "Train with --gradient-checkpointing, under which 300 tokens fit, and a max_length of 299: now"
    )


GEMMA = "{{ bos_token }}{% for m in messages %}<start_of_turn>{{ m.role }}\n{{ m.content }}<end_of_turn>{% endfor %}"


@pytest.mark.parametrize(
    ("marker", "says"),
    [
        ("<|im_start|>assistant\n", "it knows no <|im_start|> (but <start_of_turn>, <end_of_turn>)"),
        (r"<|im_start|>assistant\n", r"marker '<|im_start|>assistant\n' is nowhere"),
        ("[/INST]", "it knows no [/INST]"),
        ("Answer: ", "ends in a space"),
        ("<start_of_turn>model\n", None),
        ("### Response:\n", None),
    ],
)
def test_a_marker_that_the_template_does_not_print(marker: str, says: str | None) -> None:
    looked = judged(SHORT, LONG, template=GEMMA, trainer="unsloth", loss_on="assistant", response_marker=marker)
    found = judge(looked, ["T012"])
    assert [finding.line for finding in found] == ([] if says is None else [1])
    assert says is None or says in found[0].message


def test_a_text_is_not_rendered_by_the_template() -> None:
    text = row(40, [("text", 0, 39, 40)], family="text", answers=[{"start": 0, "end": 40}])
    assert judge(judged(text, template=GEMMA, response_marker="<|im_start|>assistant"), ["T012"]) == []
    (found,) = judge(judged(text, template=GEMMA, response_marker="Answer: "), ["T012"])
    assert "Leave the space out: 'Answer:'." in found.remedy


def test_mlx_is_said_to_hold_more_than_it_reports() -> None:
    rows = [row(tokens, [("assistant", 1, tokens - 2, tokens - 1)]) for tokens in (33, 60, 64, 65, 500)]
    (said,) = (note for note in notes(judged(*rows, trainer="mlx-lm", budget=10**9, max_length=300)) if "MLX" in note)
    assert "(3 here, padded to 32 tokens)" in said  # 64, 96 and the limit
    assert not any("MLX" in note for note in notes(judged(*rows, trainer="mlx-lm", max_length=300)))


def test_padded_rows_are_steps_of_max_length_whatever_they_hold() -> None:
    padded = judged(SHORT, LONG, trainer="axolotl", max_length=320, pad_to_max_length=True)
    assert padded.reach.step.tolist() == [320, 320]
    assert padded.reach.tokens.tolist() == [50, 300]
    # axolotl rounds the length up to a multiple of 64, and drops what is longer than sequence_len as ever.
    odd = judged(SHORT, LONG, trainer="axolotl", max_length=200, pad_to_max_length=True, batch_size=4)
    assert odd.reach.step.tolist() == [256, 0]
    assert any(note.startswith("padding: every step is 4 x 256 tokens") for note in notes(odd))
    assert judged(SHORT, LONG, trainer="hf", max_length=200, pad_to_max_length=True).reach.step.tolist() == [200, 200]


def test_padding_needs_a_length() -> None:
    with pytest.raises(PlanError, match="--max-length"):
        Plan(trainer="hf", pad_to_max_length=True)


def test_rows_dropped_at_the_judged_limit_are_dropped_at_a_shorter_one() -> None:
    rows = judged(SHORT, LONG, PROMPT, trainer="axolotl", max_length=350)
    assert rows.reach.dropped.tolist() == [False, False, True]
    assert what_if(rows, 250).dropped == 2
    # What is dropped for another reason than its length is not counted: this one has no answer left without a limit.
    assert what_if(judged(row(1, []), SHORT, trainer="axolotl"), 40).dropped == 1


def test_the_plan_of_an_untraced_trainer_shows_what_it_reads() -> None:
    line = plan_line(Plan(model="gemma-3n-E2B", trainer="mlx-lm", batch_size=4))
    assert "batch 4" in line
    assert not any(word in line for word in ("CUDA", "LoRA", "rank", "bf16", "budget"))


def test_a_slip_in_the_trainers_name_is_told() -> None:
    with pytest.raises(PlanError, match="did you mean llama-factory"):
        Plan(trainer="llamafactory")
