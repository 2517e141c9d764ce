"""Runs that ended as people reported (the links), each found beforehand with its code, its line and its numbers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from lint_dataset import measure
from lint_dataset.api import lint
from lint_dataset.plan import Plan
from lint_dataset.result import Result

#: "leaf " is one token of each vocabulary used here, so that a text of n of them has n tokens.
LEAF = "leaf "

Judge = Callable[..., Result]


@pytest.fixture
def judged(loaded, fetched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Judge:
    """What is found in a file of these rows under a published tokenizer, which is loaded once for all tests."""

    def run(rows: list[dict[str, Any]], tokenizer: str = "gemma3n", **plan: Any) -> Result:
        monkeypatch.setattr(measure, "load", lambda _: loaded(tokenizer))
        data = tmp_path / "train.jsonl"
        data.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return lint(data, Plan(tokenizer=str(fetched(tokenizer)), **plan), ignore=["J"], use_cache=False)

    return run


def talk(*texts: str | list[dict[str, Any]] | None) -> dict[str, Any]:
    """A conversation: the user, the assistant, the user, and so on."""
    return {"messages": [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(texts)]}


def text_part(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}]


SHORT = talk("what grows here", "moss")
OAK = talk("What grows under the old oak?", "Moss, and two kinds of fern in spring")

#: Rows, plan, and what is found: (line, code, a part of the message).
CUT: dict[str, tuple[list[dict[str, Any]], dict[str, Any], list[tuple[int, str, str]]]] = {
    # github.com/huggingface/trl/issues/6668
    "the prompt alone fills max_length, and the loss is 0.0": (
        [{"prompt": LEAF * 70 + "is", "completion": " moss and fern"}],
        {"trainer": "trl", "max_length": 20, "loss_on": "completion"},
        [
            (1, "T001", "keeps the first 20 of 76 tokens, and the answer starts at token 73"),
            (1, "T008", "drops every row (examples: 1)"),
        ],
    ),
    # github.com/ml-explore/mlx-lm/pull/1355
    "mlx-lm turns to NaN where the prompt is masked": (
        [talk(LEAF * 90, "moss")],
        {"trainer": "mlx-lm", "max_length": 64, "loss_on": "last"},
        [
            (
                1,
                "T001",
                "keeps the first 64 of 102 tokens, and the answer starts at token 100; nothing is left to train on, "
                "and a batch of such rows has the loss NaN",
            ),
            (1, "T008", "finds no token to train on in any row"),
        ],
    ),
    # github.com/unslothai/unsloth/issues/2900
    "all labels are -100 for another family's marker": (
        [SHORT, OAK],
        {"trainer": "unsloth", "loss_on": "assistant", "response_marker": "<|im_start|>assistant\n"},
        [(1, "T012", "it knows no <|im_start|> (but <audio_soft_token>, <image_soft_token>, <start_of_turn>")],
    ),
    # github.com/huggingface/trl/issues/1920
    "a marker that is in the text is not found for its space": (
        [{"text": "Which plant is it?\nReply: moss"}],
        {"trainer": "trl", "response_marker": "Reply: "},
        [(1, "T012", "the marker 'Reply: ' ends in a space")],
    ),
    # github.com/huggingface/trl/issues/4879
    "an assistant-only loss under a template without generation tags": (
        [SHORT, OAK],
        {"trainer": "trl", "loss_on": "assistant", "tokenizer": "qwen3"},
        [(1, "T011", "TRL 1.16 stops the run: it has no training template for this one (examples: 2)")],
    ),
    # github.com/hiyouga/LlamaFactory/issues/3995
    "LLaMA-Factory shares cutoff_len among questions and answers": (
        [talk(LEAF * 120, LEAF * 120, "and next", "done")],
        {"trainer": "llama-factory", "max_length": 64},
        [
            (1, "T001", "answer 2 of 2 is never seen: max_length 64 keeps 64 of 264 tokens"),
            (1, "T002", "of 120 tokens and its end-of-turn marker"),
            (1, "T005", "and with them the header that opens the answer"),
        ],
    ),
    # github.com/huggingface/trl/pull/3449
    "everything is clipped at 1024 that nobody set": (
        [talk(LEAF * 1000, LEAF * 300)],
        {"trainer": "trl"},
        [(1, "T010", "TRL 1.16 takes 1,024: 1 examples of this file are longer, this one 1,311 tokens")],
    ),
    # github.com/modelscope/ms-swift/issues/2501
    "rows over max_length vanish": (
        [SHORT, talk(LEAF * 700, "yes")],
        {"trainer": "ms-swift", "max_length": 512},
        [(2, "T006", "drops the row: 712 tokens are more than max_length 512")],
    ),
    # github.com/huggingface/trl/issues/5075
    "a pack throws away what is past its length": (
        [OAK],
        {"trainer": "trl", "packing": "bfd", "max_length": 20},
        [(1, "T002", "and its end-of-turn marker: max_length 20 cuts a row of 27 tokens")],
    ),
    "a pack's tail becomes a piece without a question": (
        [OAK],
        {"trainer": "trl", "packing": "bfd_split", "max_length": 20},
        [(1, "T009", "27 tokens are trained on in 2 pieces (bfd_split at 20)")],
    ),
    # github.com/hiyouga/LlamaFactory/issues/9493
    "LLaMA-Factory drops every row of plain text": (
        [{"text": "one page"}, {"text": "two pages"}],
        {"trainer": "llama-factory"},
        [
            (1, "S008", "does not read text rows by itself (2 rows)"),
            (1, "T006", "does not end with an answer"),
            (1, "T008", "drops every row (examples: 2)"),
            (2, "T006", "does not end with an answer"),
        ],
    ),
}

READ: dict[str, tuple[list[dict[str, Any]], dict[str, Any], list[tuple[int, str, str]]]] = {
    # github.com/mistralai/mistral-finetune, its validator; mlx-lm trains on the last message
    "mlx-lm trains on the question that a row ends with": (
        [SHORT, talk("hi", "hello", "go on")],
        {"trainer": "mlx-lm", "loss_on": "last"},
        [(2, "M008", 'ends with "user", and the loss of mlx-lm with --mask-prompt is on that message')],
    ),
    # aws-samples, a file for reinforcement fine-tuning
    "a file of prompts and reference answers": (
        [talk("7*8?") | {"reference_answer": "56"}],
        {"trainer": "hf"},
        [(1, "M007", '(roles: user); the answer seems to be in "reference_answer"')],
    ),
    # github.com/EvolvingLMMs-Lab/open-r1-multimodal/issues/19
    "the repr of a list of parts is trained on": (
        [SHORT, talk(text_part("ping"), text_part("pong"))],
        {"trainer": "hf", "tokenizer": "llama3_1"},
        [(2, "M104", "message 1 (user) is printed as a list"), (2, "M104", "message 2 (assistant) is printed")],
    ),
    # github.com/unslothai/unsloth/issues/6004
    "a clip is ignored for the name of its type": (
        [
            talk(
                [{"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}, *text_part("write")],
                text_part("la"),
            )
        ],
        {"trainer": "hf"},
        [(1, "M103", 'the chat template renders nothing for type "input_audio"')],
    ),
    # github.com/huggingface/trl/issues/1400
    "two BOS tokens at the start of a row": (
        [{"text": "plain"}, {"text": "<bos><start_of_turn>user\nhi<end_of_turn>\n<start_of_turn>model\nyes"}],
        {"trainer": "hf"},
        [(2, "M109", "the row begins with <bos> twice")],
    ),
}


@pytest.mark.parametrize("name", CUT | READ)
def test_it_has_its_code_line_and_numbers(name: str, judged: Judge) -> None:
    rows, plan, expected = (CUT | READ)[name]
    found = judged(rows, **plan).diagnostics
    assert [(one.line, one.code) for one in found] == [(line, code) for line, code, _ in expected]
    for one, (_, _, said) in zip(found, expected, strict=True):
        assert said in one.message


def test_packed_rows_that_attend_to_each_other_are_noted(judged: Judge) -> None:
    """github.com/huggingface/trl/issues/3067"""
    rows = [talk(f"q{i}", f"a{i}") for i in range(5)]
    said = "packing wrapped: rows in one sequence see each other unless the attention masks them"
    assert said in judged(rows, trainer="trl", packing="wrapped").notes
    assert said not in judged(rows, trainer="trl").notes


def test_an_image_is_a_string_whose_letters_would_be_counted(judged: Judge, tmp_path: Path) -> None:
    """github.com/hiyouga/LlamaFactory/issues/5883"""
    Image.new("L", (64, 64)).save(tmp_path / "fern.png")
    asked = [{"from": "human", "value": "<image>\nWhich?"}, {"from": "gpt", "value": "a fern"}]
    rows = [{"conversations": asked, "images": images} for images in (["fern.png"], "fern.png")]
    (found,) = (one for one in judged(rows, trainer="llama-factory").diagnostics if one.code == "S003")
    assert (found.line, found.message) == (2, '"images" is a string, expected an array')


def test_a_cut_through_the_tokens_of_an_image(judged: Judge, tmp_path: Path) -> None:
    """github.com/huggingface/trl/pull/5927: Gemma 3n gives an image 256 tokens."""
    Image.new("L", (64, 64)).save(tmp_path / "map.png")
    row = talk([{"type": "image", "image": "map.png"}, *text_part("describe")], text_part("a map"))
    (found,) = (one for one in judged([row], trainer="hf", max_length=200).diagnostics if one.code == "T004")
    assert (found.line, found.data["of"]) == (1, 256)
    assert "of the 256 tokens" in found.message


E2B = {"model": "gemma-3n-E2B", "device": "cuda", "method": "lora"}
#: The same vocabulary above a model whose steps are played in less time.
SMALL = E2B | {"model": "gemma-3-270m"}


def out_of_memory(result: Result) -> list[Any]:
    return [one for one in result.diagnostics if one.code == "O001"]


def test_the_one_long_row_on_which_a_run_dies_late(judged: Judge) -> None:
    """github.com/foundation-model-stack/fms-hf-tuning/issues/471"""
    rows = [SHORT, talk("and there", "fern"), talk(LEAF * 7000, "yes")]
    (found,) = out_of_memory(judged(rows, trainer="trl", batch_size=2, budget="2GB", **SMALL))
    assert (found.line, found.data["tokens"]) == (3, 7012)
    assert found.message.startswith("a batch of 2 x 7,012 tokens needs ")
    assert 15 < found.data["longest_that_fits"] < 7012


def test_logits_that_a_chunked_loss_would_not_hold(judged: Judge) -> None:
    """github.com/NVIDIA-NeMo/Automodel/issues/3907: logits of 262,400 numbers a token."""
    plan = {"trainer": "trl", "loss": "logits", "gradient_checkpointing": True, "max_length": 9100, **E2B}
    (found,) = out_of_memory(judged([SHORT, talk(LEAF * 9000, "yes")], budget="40GB", **plan))
    assert (found.line, found.data["tokens"]) == (2, 9012)
    chunked = found.remedy.split("--loss chunked ")[1].split()[0]
    assert found.data["longest_that_fits"] < 9012 < int(chunked.replace(",", ""))


def test_the_batch_that_fits_is_named(judged: Judge) -> None:
    """github.com/unslothai/unsloth/issues/3226"""
    plan = SMALL | {"trainer": "trl", "method": "qlora", "max_length": 512, "budget": "2GB"}
    found = out_of_memory(judged([talk(LEAF * 500, "yes")] * 4, batch_size=40, **plan))
    assert [one.line for one in found] == [1, 2, 3, 4]
    fits = found[0].data["batch_that_fits"]
    assert f"Or take a batch of {fits}, the largest in which the heaviest row fits." in found[0].remedy
    assert out_of_memory(judged([talk(LEAF * 500, "yes")], batch_size=fits, **plan)) == []


def test_packing_needs_memory_for_the_cap_whatever_the_rows(judged: Judge) -> None:
    """github.com/unslothai/notebooks/pull/135"""
    plan = SMALL | {"trainer": "trl", "batch_size": 8, "max_length": 2048, "budget": "2GB"}
    packed = judged([SHORT] * 3, packing="bfd", **plan)
    (found,) = out_of_memory(packed)
    assert (found.line, found.message[:44]) == (1, "every packed step of 8 x 2,048 tokens needs ")
    assert any(note.startswith("packing: every step is 8 x 2,048 tokens, whatever the rows") for note in packed.notes)
    assert out_of_memory(judged([SHORT] * 3, **plan)) == []


def test_neither_lora_nor_quantisation_shrinks_a_long_row(judged: Judge) -> None:
    """github.com/huggingface/peft/issues/1514"""
    plan = E2B | {"trainer": "trl", "method": "qlora", "max_length": 15000, "budget": "24GB"}
    (found,) = out_of_memory(judged([talk(LEAF * 14000, "yes")], **plan))
    assert found.message.startswith("14,012 tokens need ")
    assert 512 < found.data["longest_that_fits"] < 14012


def test_a_mac_out_of_memory_on_long_rows_in_batches(judged: Judge) -> None:
    """github.com/ml-explore/mlx-lm/pull/47, as far as it is traced: PyTorch on a Mac, not MLX."""
    plan = E2B | {"trainer": "hf", "device": "mps", "batch_size": 4, "max_length": 4096, "budget": "36GB"}
    (found,) = out_of_memory(judged([SHORT, talk(LEAF * 5000, "yes")], **plan))
    assert (found.line, found.data["tokens"]) == (2, 4096)
    assert found.message.startswith("a batch of 4 x 4,096 tokens needs ")
