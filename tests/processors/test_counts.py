"""Counts and answer spans on published tokenizers: as the library counts, and where the answers really are."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.processors.exact import chat, decoded, ids_of, measured
from tests.tokenizers import NAMES

EVERY = ("gemma3n", *NAMES)
SYSTEM = tuple(name for name in EVERY if name != "gemini")  # Gemma 1 and 2 refuse a system message

TEXTS = (
    "s",
    "end",
    "turn",
    "user",
    "model",
    "assistant",
    "I",
    "yes it is",
    "The quick brown fox jumps over the lazy dog. " * 30,
    "def f(x):\n\treturn {k: v for k, v in x.items()}\n\n\n    # done\n",
    "日本語のテキスト、混在 with English و العربية और हिन्दी",
    "👩‍👩‍👧‍👦 family, café vs café, ﬁ ligature, ①②③",
    "a  b   c    d\t\te",
    "line\r\nline\rline\u2028line\u00a0x\u200by",
    "<b>bold</b> &amp; {{ jinja }} {% raw %} <|not_a_token|> [INST-ish] </s",
    "1234567890 3.14159 1,000,000 0x1F",
    "\x00\x01\x1b[0m control",
    "\U000f0000 private \ue000 use \U0010fffd",
    "ſ ẞ İ ı ǅ ﷽",
    "-" * 300,
    "\\n \\u00e9 \"quoted\" 'single'",
)
SPACED = (" leading", "trailing ", "\nlines\n\n", "  \t both \n ", "\u3000wide\u3000")


def rows() -> list[list[dict[str, str]]]:
    found = [chat(text, text) for text in (*TEXTS, *SPACED)]
    found += [chat("hi", one, "and", two) for one, two in zip(TEXTS, TEXTS[::-1], strict=True)]
    found.append(chat(*(f"{word} {i}" for i, word in enumerate(["yes", "yes"] * 20))))
    found.append(chat(*["same"] * 8))
    return found


@pytest.mark.parametrize("name", EVERY)
def test_counts_are_the_librarys_and_answers_decode(name: str, loaded) -> None:
    processor = loaded(name)
    conversations = rows()
    if name in SYSTEM:
        conversations += [chat("hi", text, system=text) for text in (*TEXTS, *SPACED)]
    found = measured(processor, [{"messages": messages} for messages in conversations])
    for messages, row in zip(conversations, found, strict=True):
        ids = ids_of(processor, messages)
        assert row["tokens"] == len(ids)
        assert not set(row["codes"]) - {"M108"}, (messages, row["faults"])
        said = [message["content"] for message in messages if message["role"] == "assistant"]
        turns = [turn for turn in row["turns"] if turn["role"] == "assistant"]
        assert len(said) == len(turns) == len(row["answers"])
        for text, turn, answer in zip(said, turns, row["answers"], strict=True):
            shown = decoded(processor, ids, turn)
            # A token may reach over the edge of a text, never by more than the white space around it.
            assert shown.strip() == _through(processor, text).strip()
            assert answer == {"start": turn["start"], "end": turn["marker_end"]}
            assert turn["marker_end"] > turn["end"], "every one of these templates ends a turn with a marker"


@pytest.mark.parametrize("name", EVERY)
def test_turn_ends_with_the_marker_and_nothing_behind(name: str, loaded) -> None:
    processor = loaded(name)
    messages = chat("a question", "an answer", "another", "more")
    (row,) = measured(processor, [{"messages": messages}])
    ids = ids_of(processor, messages)
    marker = {
        "gemma3n": "<end_of_turn>",
        "gemma3": "<end_of_turn>",
        "gemini": "<end_of_turn>",
        "qwen3": "<|im_end|>",
        "llama3_1": "<|eot_id|>",
        "deepseek_v3": "<｜end▁of▁sentence｜>",
    }[name]
    for turn in (turn for turn in row["turns"] if turn["role"] == "assistant"):
        assert decoded(processor, ids, (turn["end"], turn["marker_end"])) == marker


def test_a_marker_spelled_out_in_the_data(gemma3n) -> None:
    """As a character, and as Python prints it: neither is taken for one of ours."""
    texts = ["a", "\\U000f0000", "\U000f0001", "\\U000f0002 \U000f0003 s"]
    messages = chat(*texts)
    (row,) = measured(gemma3n, [{"messages": messages}])
    ids = ids_of(gemma3n, messages)
    assert row["codes"] == []
    assert [decoded(gemma3n, ids, (turn["start"], turn["end"])) for turn in row["turns"]] == texts


def _through(processor, text: str) -> str:
    """A text as the tokenizer gives it back: some normalise it."""
    ids = processor.tokenizer(text, add_special_tokens=False)["input_ids"]
    return str(processor.tokenizer.decode(ids, clean_up_tokenization_spaces=False))


ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
MARKUP = st.sampled_from(
    ["s", "\n", " ", "model\n", "user", "</think>", "<think>", "\U000f0000", "\U000f0001", "\\U000f0000"]
)
SAID = st.one_of(ANY_TEXT, st.lists(st.one_of(ANY_TEXT, MARKUP), max_size=5).map("".join))


@pytest.mark.parametrize("name", EVERY)
@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(SAID, min_size=2, max_size=6).filter(lambda texts: len(texts) % 2 == 0))
def test_any_text_counts_as_the_library_counts(name: str, loaded, texts: list[str]) -> None:
    processor = loaded(name)
    messages = chat(*texts)
    (row,) = measured(processor, [{"messages": messages}])
    if row["tokens"] is None:
        # The processor refuses a placeholder, and a template what it likes; nothing else may go uncounted.
        assert {"M101", "M111"} & set(row["codes"])
        return
    ids = ids_of(processor, messages)
    assert row["tokens"] == len(ids)
    last = 0
    for turn in row["turns"]:
        assert last <= turn["start"] <= turn["end"] <= turn["marker_end"] <= len(ids)
        last = turn["marker_end"]


@pytest.mark.parametrize("name", EVERY)
@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=SAID)
def test_any_raw_text_counts_as_the_trainer_counts(name: str, loaded, text: str) -> None:
    processor = loaded(name)
    tokenizer = processor.tokenizer
    (row,) = measured(processor, [{"text": text}])
    ended = text if text.endswith(tokenizer.eos_token) else text + tokenizer.eos_token
    assert row["tokens"] == len(tokenizer(ended)["input_ids"])
    assert row["answers"] == [{"start": 0, "end": row["tokens"]}]


@pytest.mark.parametrize("name", EVERY)
def test_prompt_and_completion(name: str, loaded) -> None:
    processor = loaded(name)
    tokenizer = processor.tokenizer
    pairs = [("Say hi.", " Hi there"), ("a", "s"), ("Q: why?\nA:", " because\n"), ("x\n", "\ny"), ("日本", "語です")]
    found = measured(processor, [{"prompt": prompt, "completion": completion} for prompt, completion in pairs])
    for (prompt, completion), row in zip(pairs, found, strict=True):
        ids = tokenizer(prompt + completion + tokenizer.eos_token)["input_ids"]
        assert row["tokens"] == len(ids)
        tail = decoded(processor, ids, (row["completion"], len(ids)))
        assert tail.removesuffix(tokenizer.eos_token).endswith(completion)
        # At most the token that holds the border begins before it.
        assert len(decoded(processor, ids, (row["completion"] + 1, len(ids)))) <= len(completion + tokenizer.eos_token)


def test_prompt_and_completion_as_messages(gemma3n) -> None:
    prompt, completion = chat("hi", "hello", "again"), [{"role": "assistant", "content": "s"}]
    (row,) = measured(gemma3n, [{"prompt": prompt, "completion": completion}])
    ids = ids_of(gemma3n, [*prompt, *completion])
    assert row["tokens"] == len(ids)
    assert decoded(gemma3n, ids, (row["completion"], len(ids))) == "s<end_of_turn>\n"


def test_a_processor_begins_a_sequence_that_its_template_does_not_begin(gemma3n) -> None:
    """Unlike a tokenizer, it adds the token by itself; every span moves with it."""
    import copy

    from lint_dataset.processors.expansion import Expansion
    from lint_dataset.processors.loading import Processor

    whole = copy.copy(gemma3n.whole)
    whole.chat_template = gemma3n.template.replace("{{- bos_token -}}", "")
    processor = Processor(gemma3n.tokenizer, whole, Expansion.of(whole, gemma3n.tokenizer, None))
    messages = chat("hi", "hello")
    (row,) = measured(processor, [{"messages": messages}])
    ids = ids_of(processor, messages)
    assert ids[:2] == [2, 105]
    assert row["tokens"] == len(ids)
    assert decoded(processor, ids, row["answers"][0]) == "hello<end_of_turn>"


def test_what_is_said_in_the_prompt_of_a_completion_is_no_answer(gemma3n) -> None:
    """TRL's completion mask is 0 there."""
    row = {"prompt": chat("a", "b", "c"), "completion": [{"role": "assistant", "content": "d"}]}
    (found,) = measured(gemma3n, [row])
    (answer,) = found["answers"]
    ids = ids_of(gemma3n, [*row["prompt"], *row["completion"]])
    assert decoded(gemma3n, ids, answer) == "d<end_of_turn>"
    assert found["completion"] == answer["start"]


def test_a_system_column_beside_sharegpt_turns_is_not_counted_and_said(gemma3n) -> None:
    turns = [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "hello"}]
    (found,) = measured(gemma3n, [{"conversations": turns, "system": "Be brief."}])
    assert found["tokens"] == len(ids_of(gemma3n, chat("hi", "hello")))
    assert "S010" in found["codes"]
