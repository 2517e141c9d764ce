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
        assert not set(row["codes"]) - {"M108", "M116"}, (messages, row["faults"])
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

    from lint_dataset.processors import expansion
    from lint_dataset.processors.loading import Processor

    whole = copy.copy(gemma3n.whole)
    whole.chat_template = gemma3n.template.replace("{{- bos_token -}}", "")
    processor = Processor(gemma3n.tokenizer, whole, expansion.read(whole, gemma3n.tokenizer))
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


#: A template that knows a variable, in front of every turn, and in front of the answer it asks for.
MOOD = """\
{%- for message in messages %}
    {{- '<|im_start|>' + message['role'] + (' in a ' + mood + ' mood' if mood is defined else '') + '\n' }}
    {{- (message['content'] or '') }}
    {%- for call in message['tool_calls'] or [] %}{{ call.function.name }}(){% endfor %}
    {{- '<|im_end|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant' + (' in a ' + mood + ' mood' if mood is defined else '') + '\n' }}
{%- endif %}
"""
GLAD = {"mood": "rather glad"}


def test_the_template_knows_the_variables_of_a_row(with_template) -> None:
    """Rows with and without them in one batch, in each of the schemas that TRL passes them on for."""
    processor = with_template(MOOD)
    messages = chat("hi", "hello", "and", "bye")
    sharegpt = [{"from": "human" if i % 2 == 0 else "gpt", "value": m["content"]} for i, m in enumerate(messages)]
    glad = ids_of(processor, messages, **GLAD)
    plain = ids_of(processor, messages)
    assert len(glad) > len(plain)
    found = measured(
        processor,
        [
            {"messages": messages, "chat_template_kwargs": GLAD},
            {"messages": messages},
            {"messages": messages, "chat_template_kwargs": {}},
            {"conversations": sharegpt, "chat_template_kwargs": GLAD},
            {"prompt": messages[:3], "completion": messages[3:], "chat_template_kwargs": GLAD},
        ],
    )
    for row, ids in zip(found, [glad, plain, plain, glad, glad], strict=True):
        assert row["tokens"] == len(ids)
        assert not set(row["codes"]) - {"S007"}
        said = [decoded(processor, ids, answer) for answer in row["answers"]]
        assert said == ["hello<|im_end|>", "bye<|im_end|>"][-len(said) :]
    assert [len(row["answers"]) for row in found] == [2, 2, 2, 2, 1]
    asked = ids_of(processor, messages[:3], add_generation_prompt=True, **GLAD)
    assert found[4]["completion"] == len(asked)


def test_what_a_template_leaves_out_is_asked_with_the_variables_of_a_row(with_template) -> None:
    """Or every render for comparison would differ, and nothing would be found to be lost."""
    processor = with_template(MOOD)
    call = {"type": "function", "function": {"name": "look", "arguments": {}}}
    messages = [*chat("hi"), {"role": "assistant", "content": None, "tool_calls": [call]}]
    row = {"messages": messages, "tools": [call["function"]], "chat_template_kwargs": GLAD}
    (found,) = measured(processor, [row])
    ids = ids_of(processor, messages, **GLAD)
    assert found["codes"] == ["M106"]
    assert [decoded(processor, ids, answer) for answer in found["answers"]] == ["look()<|im_end|>"]


def test_a_multimodal_processor_knows_the_variables_of_a_row(gemma3n) -> None:
    import copy

    from lint_dataset.processors import expansion
    from lint_dataset.processors.loading import Processor

    whole = copy.copy(gemma3n.whole)
    whole.chat_template = gemma3n.template + "{{- mood if mood is defined }}"
    processor = Processor(gemma3n.tokenizer, whole, expansion.read(whole, gemma3n.tokenizer))
    (found,) = measured(processor, [{"messages": chat("hi", "hello"), "chat_template_kwargs": {"mood": "glad"}}])
    ids = ids_of(gemma3n, chat("hi", "hello"))
    glad = gemma3n.tokenizer("glad", add_special_tokens=False)["input_ids"]
    assert found["tokens"] == len(ids) + len(glad)


@pytest.mark.parametrize(
    "given",
    [None, "glad", 1, [GLAD], *({name: "x", **GLAD} for name in ("self", "messages", "tools", "tokenize", "padding",
     "add_generation_prompt", "chat_template", "conversation", "return_dict", "processor_kwargs"))],
)  # fmt: skip
def test_variables_that_trl_stops_at_are_a_fault_and_no_crash(given, with_template) -> None:
    processor = with_template(MOOD)
    messages = chat("hi", "hello")
    (found,) = measured(processor, [{"messages": messages, "chat_template_kwargs": given}])
    assert found["codes"] == ["S012"]
    assert found["tokens"] == len(ids_of(processor, messages, **(GLAD if isinstance(given, dict) else {})))


@pytest.mark.parametrize("name", EVERY)
def test_variables_of_any_name_never_crash(name: str, loaded) -> None:
    names = ("", "a b", "loop", "bos_token", "caller", "documents", "namespace", "raise_exception", "date_string")
    rows = [{"messages": chat("a", "b"), "chat_template_kwargs": {key: value}} for key in names for value in (1, None)]
    assert len(measured(loaded(name), rows)) == len(rows)
