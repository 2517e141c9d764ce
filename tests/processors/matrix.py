"""What chat templates do with forms of rows that not all of them take: by us, and by rendering directly.

    python -m tests.processors.matrix TOKENIZER NAME=GLOB... > docs/templates.md

renders every probe with every template of the globs (NAME says where they come from), with the tokens of the tokenizer
in the folder TOKENIZER, and writes the table. It ends with status 1 where the two disagree.
"""

from __future__ import annotations

import copy
import glob
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from lint_dataset.processors.loading import Processor
from tests.processors.exact import ids_of, measured

Messages = list[dict[str, Any]]


class Probe(NamedTuple):
    """A row of one form, the same without what makes it special, and the cause to name where that alone is refused."""

    name: str
    row: Messages
    cured: Messages
    cause: str


def say(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def calling(arguments: Any, content: Any = "", answered: bool = True) -> Messages:
    call = {"type": "function", "id": "abcdef123", "function": {"name": "0fn0", "arguments": arguments}}
    asked = [say("user", "0ask0"), say("assistant", content, tool_calls=[call])]
    answer = say("tool", "0sun0", name="0fn0", tool_call_id="abcdef123")
    return [*asked, answer, say("assistant", "0say0")] if answered else asked


def part(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]


PLAIN = [say("user", "0ask0"), say("assistant", "0say0")]
MORE = [say("user", "0more0"), say("assistant", "0end0")]
TEXT, OBJECT = '{"0key0": "0value0"}', {"0key0": "0value0"}
THOUGHT = "<think>\n0think0\n</think>\n\n0say0"
PROBES = (
    Probe("system", [say("system", "0sys0"), *PLAIN], PLAIN, "system"),
    Probe("later system", [*PLAIN, say("system", "0sys0"), *MORE], [*PLAIN, *MORE], "later system"),
    Probe("two users", [say("user", "0ask0"), say("user", "0too0"), say("assistant", "0say0")], PLAIN, "order"),
    Probe("no user", [say("system", "0sys0"), say("assistant", "0say0")],
          [say("system", "0sys0"), *PLAIN], "no question"),
    Probe("other roles", [say("customer", "0ask0"), say("agent", "0say0")], PLAIN, "role"),
    Probe("parts", [say("user", part("0ask0")), say("assistant", part("0say0"))], PLAIN, "parts"),
    Probe("tool turn", calling(OBJECT), calling(OBJECT, answered=False), "role"),
    Probe("null", calling(OBJECT, None, False), calling(OBJECT, "", False), "null"),
    Probe("arguments as text", calling(TEXT, answered=False), calling(OBJECT, answered=False), "M113"),
    Probe("arguments as object", calling(OBJECT, answered=False), calling(TEXT, answered=False), "M113"),
    Probe("reasoning, two turns", [say("user", "0ask0"), say("assistant", THOUGHT), *MORE], [*PLAIN, *MORE], ""),
    Probe("reasoning, last turn", [say("user", "0ask0"), say("assistant", THOUGHT)], PLAIN, ""),
)  # fmt: skip
#: The faults that the matrix is about.
CODES = {"M101", "M102", "M104", "M105", "M107", "M110", "M113", "M116"}


def processor_with(base: Processor, template: str) -> Processor:
    from lint_dataset.processors import expansion

    tokenizer = copy.copy(base.tokenizer)
    tokenizer.chat_template = template
    if tokenizer.bos_token is None:
        # Most templates print it, and one that is not in the vocabulary is as good as any.
        tokenizer.bos_token = "<bos>"
    return Processor(tokenizer, None, expansion.read(None, tokenizer))


def direct(processor: Processor, messages: Messages) -> str | None:
    """The render as transformers gives it; None where the template raises."""
    try:
        return str(processor.tokenizer.apply_chat_template(messages, tokenize=False))
    except Exception:  # a template raises whatever it likes
        return None


def happens(processor: Processor, probe: Probe) -> tuple[str, set[str], str | None]:
    """What becomes of a probe, in words; the codes that have to be found; the cause to be named, where one is known."""
    render = direct(processor, probe.row)
    if render is None:
        known = direct(processor, probe.cured) is not None and probe.cause
        return "raises", {"M113"} if known == "M113" else {"M101"}, known or None
    words: list[str] = []
    codes: set[str] = set()

    def note(word: str, code: str) -> None:
        words.append(word)
        codes.add(code)

    texts = [text for message in probe.row for text in texts_of(message)]
    lost = [text for text in texts if text not in render and text != "0think0"]
    if lost:
        note("all lost" if len(lost) == len(texts) else f"{len(lost)} of {len(texts)} lost", "M102")
    if "0think0" in texts and "0think0" not in render:
        note("dropped", "M110")
    if "'type': 'text'" in render or '"type": "text"' in render:
        note("printed as list", "M104")
    calls = [message for message in probe.row if message.get("tool_calls")]
    if calls and "0fn0" not in render.replace("0sun0", ""):
        note("calls left out", "M107")
    elif '{\\"0key0' in render:
        note("encoded twice", "M113")
    elif "{'0key0'" in render:
        note("Python", "M113")
    if "None" in render:
        note("None", "M105")
    if "0sys0" in render and "0ask0" in render and probe.row[0]["role"] == "system":
        between = render.partition("0sys0")[2].partition("0ask0")[0]
        if not between.strip():
            note("in the user's turn", "M116")
    return ", ".join(words) or "fine", codes, None


def texts_of(message: dict[str, Any]) -> Iterator[str]:
    content = message["content"] or ""
    for text in [content] if isinstance(content, str) else [item["text"] for item in content]:
        yield from (
            (word for word in ("0think0", "0say0") if word in text) if "<think>" in text else ([text] if text else [])
        )


def disagreements(processor: Processor, probe: Probe) -> list[str]:
    """Where what is found by us is not what happens."""
    _, codes, cause = happens(processor, probe)
    (row,) = measured(processor, [{"messages": probe.row}])
    faults = [fault for fault in row["faults"] if fault.code in CODES]
    found = {fault.code for fault in faults}
    if codes == {"M101"} and cause is None:
        # Refused for more than the probe's own reason: that it is refused has to be said, in whichever way.
        return [] if found & {"M101", "M113"} and row["tokens"] is None else [f"{found} for a row that is refused"]
    if found != codes:
        return [f"{sorted(found)} instead of {sorted(codes)}"]
    if cause not in (None, "M113") and [fault.data.get("cause") for fault in faults] != [cause]:
        return [f"{[fault.data.get('cause') for fault in faults]} instead of {cause}"]
    return []


def prompt_alone(processor: Processor) -> tuple[str, list[str]]:
    """How many tokens of a prompt by itself are not in the row, in words, and where we say otherwise."""
    (row,) = measured(processor, [{"prompt": PLAIN[:1], "completion": PLAIN[1:]}])
    if row["tokens"] is None:
        return "raises", []
    prompt = ids_of(processor, PLAIN[:1], add_generation_prompt=True)
    whole = ids_of(processor, PLAIN)
    start = next((i for i, (one, other) in enumerate(zip(prompt, whole, strict=False)) if one != other), len(prompt))
    lost = len(prompt) - start
    said = [fault.data["tokens"] for fault in row["faults"] if fault.code == "M114"]
    agree = row["completion"] == start and said == ([lost] if lost else [])
    return f"{lost} tokens" if lost else "fine", [] if agree else [f"{row['completion']} {said}, not {start} {lost}"]


def main(arguments: list[str]) -> int:
    from importlib.metadata import version

    from lint_dataset.processors import load, locate

    folder, *sources = arguments
    base = load(locate(None, folder))
    seen: set[str] = set()
    rows, wrong, compared = [], [], 0
    for source in sources:
        name, _, pattern = source.partition("=")
        for path in sorted(map(Path, glob.glob(pattern))):
            template = path.read_text(encoding="utf-8")
            if template in seen:
                continue
            seen.add(template)
            processor = processor_with(base, template)
            if direct(processor, PLAIN) is None and direct(processor, [say("user", part("a"))]) is None:
                continue
            cells = []
            for probe in PROBES:
                compared += 1
                wrong += [f"{name} {path.stem}, {probe.name}: {what}" for what in disagreements(processor, probe)]
                cells.append(happens(processor, probe)[0])
            cell, differing = prompt_alone(processor)
            compared += 1
            wrong += [f"{name} {path.stem}, prompt: {what}" for what in differing]
            cells.append(cell)
            rows.append((f"{path.stem} ({name})", cells))
    print(PAGE.format(count=len(rows), compared=compared, wrong=len(wrong), transformers=version("transformers")))
    print("| template | " + " | ".join(probe.name for probe in PROBES) + " | prompt alone |")
    print("|---" * (len(PROBES) + 2) + "|")
    for name, cells in rows:
        print(f"| {name} | " + " | ".join("" if cell == "fine" else cell for cell in cells) + " |")
    print("\n".join(wrong), file=sys.stderr)
    return int(bool(wrong))


PAGE = """\
# What chat templates do with rows

Every template takes a user's question and an answer. With anything else they differ: below, {count} published templates
and what each does with a row of another form, by transformers {transformers}. An empty cell is a row that is rendered
whole. `python -m tests.processors.matrix` renders each row directly and compares what `lint-dataset` says of it:
{compared:,} pairs, {wrong} disagreements. Always judge the template that you will train with: copies differ.

| cell | what it means | rule |
|---|---|---|
| raises | the template refuses the row; the message names the cause | M101, M113 |
| lost | texts of the row that are not in what is rendered | M102 |
| printed as list | brackets and quotes of a list of parts are printed | M104 |
| None | the word is printed for a content that is null | M105 |
| calls left out | the tool call is not rendered | M107 |
| dropped | the reasoning is not rendered | M110 |
| encoded twice, Python | how arguments are printed | M113 |
| in the user's turn | the template has no system role | M116 |
| tokens | so many at the end of a prompt by itself are not how the row goes on | M114 |

"system": a system message first; "later system": one after the first answer; "two users": one after the other; "no
user": an answer right after the system message; "other roles": `customer` and `agent` for `user` and `assistant`;
"parts": text as a list of parts; "tool turn": a call, what the tool said, an answer; "null": a call whose message has
null for content.

"prompt alone": where the completion of a prompt/completion row starts was also compared with the labels that TRL 1.16's
own trainer makes of rows of messages and of strings (`python -m tests.processors.trl_completion`): 122 rows of 39 of
these templates, 0 disagreements.
"""

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
