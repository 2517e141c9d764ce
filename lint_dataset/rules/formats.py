"""S: who reads rows of this schema, what is made of media in columns, and files that mix schemas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lint_dataset.conversations.registry import named
from lint_dataset.rules import Finding, Judged, fault_rule, first_of_each_file, rule
from lint_dataset.rules.by_file import first_of_each_family, rows_of

Data = dict[str, Any]

#: Trainers that put the media of columns where the placeholders in the text are.
_FILL_PLACEHOLDERS = ("llama-factory", "ms-swift")
#: Trainers that put the images of a column in front of the first user message, whatever the text says.
_PUT_IMAGES_IN_FRONT = ("trl", "unsloth", "axolotl")


#: So many readers of a schema are named; a schema that more read needs no name.
_FEW = 5
#: Trainers by their names in a plan, as they write themselves.
_NAMES = {
    "trl": "TRL",
    "unsloth": "Unsloth",
    "llama-factory": "LLaMA-Factory",
    "nemo": "NeMo",
    "openai": "OpenAI",
}


def _trainer(judged: Judged) -> str:
    """The trainer's name as people write it, without its release."""
    return _NAMES.get(judged.plan.trainer, judged.plan.trainer)


def _listed(names: list[str]) -> str:
    """``A, B and C``."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


@rule(
    "S006",
    "media-column",
    "warning",
    what="Recordings, images or videos stand in a column of their own, with at most a placeholder in the text.",
    why=(
        "LLaMA-Factory and ms-swift put them where the placeholders are, and so the rows are judged. A chat template "
        "does not: the placeholder is trained on as literal text, and the model answers without having heard or seen "
        "anything. TRL reads image columns alone, and puts their images in front of the first user message."
    ),
    remedy='Write each medium as a part of its message: {"type": "audio", "audio": PATH}.',
    example='{"messages": [{"role": "user", "content": "<audio>What is said?"}, …], "audios": ["1.wav"]}',
)
def _media_column(judged: Judged) -> Iterator[Finding]:
    trainer = judged.plan.trainer
    if trainer in _FILL_PLACEHOLDERS:
        return
    for row, data in judged.faults.get("S006", ()):
        kind, count, places = data["kind"], data["count"], data["placeholders"]
        in_front = kind == "image" and trainer in _PUT_IMAGES_IN_FRONT
        if in_front and not places and (trainer != "axolotl" or count == 1):
            continue
        held = f'"{data["column"]}" holds {count} {kind} file{"" if count == 1 else "s"}'
        if in_front and trainer == "axolotl" and count > 1:
            message = f"{held}, and axolotl uses only the first"
        elif in_front:
            message = f"{held}, which {_trainer(judged)} puts in front of the first user message"
        else:
            message = f"{held}, which a chat template does not read"
        if places:
            message += f"; <{kind}> is trained on as text"
        remedy = f'Write each as a part of its message: {{"type": "{kind}", "{kind}": PATH}}.'
        yield Finding(row, message, remedy, data)


@rule(
    "S008",
    "needs-conversion",
    "note",
    what="The trainer does not read this schema by itself. Once a file.",
    why=(
        'Without a conversion most trainers stop at once (TRL looks for a "text" column). Where the rows have a '
        "messages column of another make, they do not: the template leaves out what it does not know."
    ),
    remedy="Write the rows as messages (or pass TRL a formatting_func): they are judged as if you had.",
    example='{"instruction": "Add.", "input": "2+2", "output": "4"}',
)
def _needs_conversion(judged: Judged) -> Iterator[Finding]:
    remedy = "Write the rows as messages before training; they are judged as if you had."
    if judged.plan.trainer == "trl":
        remedy = "Pass a formatting_func, or write the rows as messages: they are judged as if you had."
    for row, data in first_of_each_family(judged):
        known = named(data["family"])
        if known is None or known.read_by is None or judged.plan.trainer in known.read_by:
            continue
        if judged.plan.trainer == "none":
            continue  # Code of one's own reads what it likes.
        message = f"{_trainer(judged)} does not read {known.name} rows by itself"
        if judged.plan.trainer == "hf":
            message = f"{known.name} rows are no chat messages"
        message += f" ({rows_of(data)})"
        readers = [_NAMES.get(name, name) for name in known.read_by if name != "hf"]
        if len(readers) <= _FEW:
            message += f": they are for {_listed(readers)}"
        if known.wrongly:
            yield Finding(row, f"{message}; {known.wrongly}", remedy, data, "error")
        else:
            yield Finding(row, message, remedy, data)
    if judged.plan.trainer == "trl":
        for row, data in first_of_each_file(judged, "S008"):
            message = f'TRL does not read "{data["column"]}" with role and content by itself ({rows_of(data)})'
            yield Finding(row, message, remedy, data)


@rule(
    "S013",
    "media-count",
    "error",
    what="There are more files in a media column than places for them in the messages, or fewer (none only where other "
    "rows have theirs).",
    why=(
        "LLaMA-Factory and TRL stop with an error. ms-swift puts what has no place in front of the first message, and "
        "leaves a place without a file as text: the model is shown another picture than it is asked about."
    ),
    remedy="Give each file its placeholder, in the order of the column, and each placeholder its file.",
    example='{"messages": [{"role": "user", "content": "<image><image>Which?"}, …], "images": ["1.jpg"]}',
)
def _media_count(judged: Judged) -> Iterator[Finding]:
    trainer = judged.plan.trainer
    # A text may speak of <image> without meaning one: where other rows have files for theirs it is a placeholder.
    meant = {data["kind"] for _, data in judged.faults.get("S006", ())}
    for row, data in judged.faults.get("S013", ()):
        kind, count, places = data["kind"], data["count"], data["placeholders"]
        if not count and kind not in meant:
            continue
        if data["as"] == "text" and not places and trainer != "llama-factory":
            continue  # S006 says what becomes of it.
        where = f"<{kind}>" if data["as"] == "text" else f"parts of type {kind}"
        message = f'"{data["column"]}" holds {count} file{"" if count == 1 else "s"} for {places} {where}'
        if not count:
            message = f"there is no file for {places} {where}, and other rows have theirs"
        if trainer == "ms-swift":
            becomes = "puts the rest in front of the first message" if count > places else "leaves the rest as text"
            message += f"; ms-swift {becomes}"
        remedy = "Give each file its place, in the order of the column, and each place its file."
        yield Finding(row, message, remedy, data)


@rule(
    "S014",
    "preference-rows",
    "note",
    what="The rows have a chosen and a rejected answer. Once a file.",
    why=(
        "Preference trainers (DPO and its like) read them; supervised fine-tuning does not. Each row is judged by the "
        "longer of its two answers, which is what both are padded to."
    ),
    remedy="Train with a preference trainer, or keep the prompt and the chosen answer as one row of messages.",
    example='{"prompt": "2+2?", "chosen": "4", "rejected": "5"}',
)
def _preference(judged: Judged) -> Iterator[Finding]:
    for row, data in first_of_each_family(judged):
        if data["family"] == "preference":
            message = (
                f"{rows_of(data)} with a chosen and a rejected answer, which preference trainers (DPO) read and "
                "supervised fine-tuning does not; judged by the longer one"
            )
            remedy = "Train with a preference trainer, or keep the prompt and the chosen answer as one messages row."
            yield Finding(row, message, remedy, data)


@rule(
    "S015",
    "mixed-schemas",
    "error",
    what="A file holds rows of several schemas. Once a file.",
    why=(
        "Trainers look at the first row (or at the columns of the whole file) to tell the schema: rows of another one "
        "stop the run, or are read as empty."
    ),
    remedy="Write all rows in one schema, or put those of each in a file of its own.",
    example='{"messages": […]}\n{"instruction": "Add.", "output": "4"}',
)
def _mixed(judged: Judged) -> Iterator[Finding]:
    paths, lines = (judged.rows.table.column(name) for name in ("path", "line"))
    files: dict[str, dict[str, list[int]]] = {}
    for row, data in first_of_each_family(judged):
        known = named(data["family"])
        name = (known.like if known else None) or data["family"]
        first = files.setdefault(paths[row].as_py(), {}).setdefault(name, [row, 0])
        first[1] += data["rows"]
    for found in files.values():
        if len(found) < 2:
            continue
        largest = max(found, key=lambda name: found[name][1])
        data = {name: {"rows": n, "line": lines[first].as_py()} for name, (first, n) in found.items()}
        said = [f"{name} ({rows_of(each)}, the first in line {each['line']:,})" for name, each in data.items()]
        row = next(first for name, (first, _) in found.items() if name != largest)
        remedy = f"Write all rows as {largest} rows, or put those of each schema in a file of its own."
        yield Finding(row, f"the file mixes {' and '.join(said)}", remedy, {"families": data})


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names) or "none"


def _unfit(data: Data) -> str:
    if data["missing"]:
        said = f"no {data['format']} row, as --format says: it lacks {_quoted(data['missing'])}"
    else:
        said = f"no {data['format']} row, as --format says: its columns hold something else"
    return f"{said}; it is a row of {data['is']}" if data["is"] else said


fault_rule(
    "S016",
    "not-in-format",
    "error",
    what="The row is not of the schema that --format names.",
    why="It was not judged.",
    remedy="Leave --format out to have every row read as what it is, or name another with it.",
    example='--format sharegpt and {"messages": […]}',
    message=_unfit,
)

fault_rule(
    "S017",
    "column-not-there",
    "error",
    what="The row has none of the columns that --columns names.",
    why="It was not judged.",
    remedy="Correct the names given with --columns.",
    example='--columns messages=dialog and {"messages": […]}',
    message=lambda data: (
        f"the row has no column {_quoted(data['columns'])} as --columns names it (it has {_quoted(data['keys'])})"
    ),
)

fault_rule(
    "S018",
    "same-answers",
    "warning",
    what="The chosen and the rejected answer are the same.",
    why="There is nothing to prefer: the row takes memory and time, and its loss moves nothing.",
    remedy="Delete the row.",
    example='{"prompt": "2+2?", "chosen": "4", "rejected": "4"}',
    message=lambda data: "the chosen and the rejected answer are the same",
)
