"""Rows around every boundary, and a tokenizer for them whose every token can be told: one word, one token.

Used by the recorder, which runs in the environments of the trainers, and by the tests. Needs transformers alone.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

#: The limit that the rows are made for.
LIMIT = 40
WORDS = 400
ROLES = ("system", "user", "assistant", "tool")
SPECIAL = ("<unk>", "<s>", "</s>", "<|turn|>", "<|end|>")
#: Six tokens before the first question (``<s><|turn|>user\n``), two between (``<|end|>\n``), three of the next header.
TEMPLATE = (
    "{{- bos_token -}}"
    "{%- if tools -%}"
    "{{ '<|turn|>tool\n' }}{%- for tool in tools %} {{ tool.function.name }}{% endfor -%}{{ '<|end|>\n' }}"
    "{%- endif -%}"
    "{%- for message in messages -%}"
    "{{ '<|turn|>' + message.role + '\n' }}"
    "{%- if message.role == 'assistant' -%}"
    "{% generation %}{{ message.content }}"
    "{%- for call in message.tool_calls or [] %} {{ call.function.name }}{% endfor -%}"
    "<|end|>{% endgeneration %}"
    "{%- else -%}{{ message.content }}<|end|>{%- endif -%}"
    "{{ '\n' }}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{ '<|turn|>assistant\n' }}{%- endif -%}"
)

#: The same without a line break behind the last turn.
TIGHT = TEMPLATE.replace(
    "{{ '\n' }}{%- endfor -%}", "{%- if add_generation_prompt or not loop.last -%}{{ '\n' }}{%- endif -%}{%- endfor -%}"
)

Row = dict[str, Any]


def save_tokenizer(folder: Path, *, tight: bool = False) -> None:
    """Write the tokenizer, with a chat template, into a folder as transformers reads it."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = [*SPECIAL, "\n", *ROLES, *(f"w{i}" for i in range(WORDS))]
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>"))
    lines, spaces = (
        pre_tokenizers.Split(Regex("\n"), "isolated"),
        pre_tokenizers.Split(" ", "removed"),
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([lines, spaces])  # type: ignore[assignment]
    special = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>", "pad_token": "</s>"}
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, additional_special_tokens=["<|turn|>", "<|end|>"], **special
    )
    fast.chat_template = TIGHT if tight else TEMPLATE
    fast.save_pretrained(str(folder))


def talk(*lengths: int, system: int = 0, ends: str = "assistant") -> Row:
    """A conversation whose turns have so many words, no two alike; ``ends`` is who speaks last."""
    words = iter(range(WORDS))
    say = lambda count: " ".join(f"w{next(words)}" for _ in range(count))  # noqa: E731
    messages = [{"role": "system", "content": say(system)}] if system else []
    who = "user" if (len(lengths) % 2 == 0) == (ends == "assistant") else "assistant"
    for length in lengths:
        messages.append({"role": who, "content": say(length)})
        who = "assistant" if who == "user" else "user"
    return {"messages": messages}


def conversations() -> list[Row]:
    """Conversations: every edge by itself, then random ones."""
    # <s> + (<|turn|> role \n) + question + (<|end|> \n) + header of 3 + answer + (<|end|> \n): 11 beside the words.
    beside = 11
    rows = [talk(5, 5)]
    for over in (-2, -1, 0, 1, 2):
        rows += [
            talk(10, LIMIT - beside - 10 + over),  # the row ends around the limit
            talk(10, LIMIT - 9 - 10 + over),  # the answer's last word lies around it
            talk(LIMIT - 9 + over, 6),  # the answer's first word lies around it
            talk(LIMIT - 6 + over, 6),  # the question ends around it
            talk(3, 4, LIMIT - 26 + over, 5),  # in the second turn
            talk(6, 5, system=LIMIT - 14 + over),
            talk((LIMIT - beside) // 2 + over, (LIMIT - beside) // 2),  # question and answer alike
        ]
    rows += [
        talk(5, 60),
        talk(60, 5),
        talk(60, 60),
        talk(2, 70, 2, 2),
        talk(4, 4, 4, 4, 4, 40),
        talk(30, 2, 2, 2, 2, 2),
        talk(5, 0),
        talk(50, 0),
        talk(3, 5, 4, ends="user"),
        talk(3, 50, 4, ends="user"),
    ]
    chance = random.Random(20261201)
    for _ in range(60):
        turns = 2 * chance.randint(1, 4)
        rows.append(talk(*(chance.randint(1, 30) for _ in range(turns)), system=chance.choice((0, 0, 4, 20))))
    return rows


def unanswered() -> list[Row]:
    """Conversations in which the assistant says nothing."""
    return [talk(6, ends="user"), talk(60, ends="user")]


def with_tools() -> list[Row]:
    """Conversations with tools: the assistant calls one and answers from what it returns."""
    tools = [{"type": "function", "function": {"name": "w390", "parameters": {}}}]
    rows = []
    for question, said, answer in ((3, 3, 4), (20, 3, 4), (3, 30, 4), (3, 3, 40)):
        row = talk(question, 0, said, answer)
        call = {"type": "function", "function": {"name": "w391", "arguments": {}}}
        row["messages"][1]["tool_calls"] = [call]
        row["messages"][2]["role"] = "tool"
        rows.append({**row, "tools": tools})
    return rows


def prompts() -> list[Row]:
    """Prompt and completion as texts, and as messages."""
    rows: list[Row] = []
    for question, answer in ((5, 5), (20, 19), (20, 20), (20, 21), (39, 5), (40, 5), (41, 5), (60, 5), (5, 60)):
        first, second = (each["content"] for each in talk(question, answer)["messages"])
        rows.append({"prompt": first, "completion": f" {second}"})
    for question, answer in ((5, 5), (10, 18), (10, 19), (10, 20), (31, 5), (32, 5), (60, 5)):
        messages = talk(question, answer)["messages"]
        rows.append({"prompt": messages[:1], "completion": messages[1:]})
    return rows


def texts() -> list[Row]:
    """Plain texts."""
    return [{"text": talk(length)["messages"][0]["content"]} for length in (5, 39, 40, 41, 90)]
