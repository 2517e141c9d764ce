"""Text that is made: tables of numbers, and JSON of many shapes. No two documents are alike."""

from __future__ import annotations

import ast
import base64
import json
import random
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

#: What makes one object, its keys in words.
Shape = Callable[[random.Random, Sequence[str]], Any]


def numbers(seed: int, documents: int = 24) -> Iterator[str]:
    """Tables of numbers: CSV, Markdown, logs, arithmetic, dates, hexadecimal; no two documents alike."""
    for i in range(documents):
        rng = random.Random(seed + i)
        yield "\n".join(_number_row(rng, i % 6) for _ in range(400))


def described(module: str, source: str) -> str:
    """The classes and functions of a module as JSON, as tool descriptions and API replies look."""
    tree = ast.parse(source)
    found = [
        {"name": node.name, "line": node.lineno, "end": node.end_lineno, "doc": ast.get_docstring(node)}
        | ({"parameters": [a.arg for a in node.args.args]} if isinstance(node, ast.FunctionDef) else {})
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    ]
    return json.dumps({"module": module, "members": found}, indent=2 if len(found) % 2 else None)


def _number_row(rng: random.Random, form: int) -> str:
    if form == 0:
        return ",".join(str(round(rng.gauss(0, 10 ** rng.randint(0, 5)), rng.randint(0, 6))) for _ in range(6))
    if form == 1:
        return "| " + " | ".join(f"{rng.randint(0, 10 ** rng.randint(1, 8)):,}" for _ in range(5)) + " |"
    if form == 2:
        day = f"2024-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
        hour = f"{rng.randint(0, 23):02}:{rng.randint(0, 59):02}:{rng.random() * 60:06.3f}"
        return f"{day}T{hour}Z {rng.randint(100, 599)} {rng.randint(1, 10**6)}"
    if form == 3:
        a, b = rng.randint(1, 10 ** rng.randint(1, 6)), rng.randint(1, 10**3)
        return f"{a} * {b} = {a * b}; {a} / {b} = {a / b:.{rng.randint(1, 8)}f}"
    if form == 4:
        return " ".join(f"{rng.getrandbits(32):08x}" for _ in range(rng.randint(2, 8)))
    return "\t".join(f"{rng.random() * 10 ** rng.randint(-3, 4):.{rng.randint(1, 5)}e}" for _ in range(4))


def objects(texts: Sequence[str], seed: int, shapes: Sequence[Shape], documents: int = 30) -> Iterator[str]:
    """Documents of JSON whose strings are from ``texts``: shapes, spellings of keys and layouts take turns."""
    for i in range(documents):
        rng = random.Random(seed + i)
        shape, spelling = shapes[i % len(shapes)], _SPELLINGS[i // len(shapes) % len(_SPELLINGS)]
        layout = _LAYOUTS[i % len(_LAYOUTS)]
        made = [_spelled(shape(rng, texts), spelling) for _ in range(40)]
        yield "\n".join(json.dumps(each, **layout) for each in made)


_LAYOUTS: tuple[dict[str, Any], ...] = (
    {"ensure_ascii": False},
    {"indent": 2, "ensure_ascii": False},
    {"separators": (",", ":"), "ensure_ascii": False},
    {"indent": 4},
    {"indent": "\t", "ensure_ascii": False},
)


def _some(rng: random.Random, texts: Sequence[str], most: int) -> str:
    text = rng.choice(texts)
    at = rng.randrange(max(1, len(text) - most))
    return " ".join(text[at : at + rng.randint(1, most)].split())


def _time(rng: random.Random) -> str:
    day, hour = f"2025-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}", f"{rng.randint(0, 23):02}"
    return f"{day}T{hour}:17:42.{rng.randint(0, 999):03}Z"


def _reply(rng: random.Random, texts: Sequence[str]) -> Any:
    return {
        "request id": str(uuid.UUID(int=rng.getrandbits(128), version=4)),
        "status code": rng.choice((200, 201, 404, 429)),
        "created at": _time(rng),
        "result items": [
            {"full name": _some(rng, texts, 60), "is active": rng.random() < 0.5, "parent": None, "score": rng.random()}
            for _ in range(rng.randint(1, 5))
        ],
        "next page": f"https://api.example.com/v{rng.randint(1, 4)}/items?cursor={rng.getrandbits(64):x}&limit=20",
    }


def _tool(rng: random.Random, texts: Sequence[str]) -> Any:
    names = ["start date", "max results", "user email", "order by", "location", "page token", "time zone"]
    return {
        "type": "function",
        "function": {
            "name": rng.choice(("search flights", "get weather", "send message", "list open orders")),
            "description": _some(rng, texts, 200),
            "parameters": {
                "type": "object",
                "properties": {
                    name: {"type": rng.choice(("string", "integer", "array")), "description": _some(rng, texts, 80)}
                    for name in rng.sample(names, 3)
                },
                "required": rng.sample(names, 1),
            },
        },
    }


def _measurements(rng: random.Random, texts: Sequence[str]) -> Any:
    return {
        "sensor": f"dev-{rng.getrandbits(24):06x}",
        "unit": rng.choice(("ms", "kWh", "°C", "px")),
        "values": [[rng.randint(0, 2**31), round(rng.gauss(0, 1000), rng.randint(0, 6))] for _ in range(20)],
        "box": {key: round(rng.random(), 4) for key in ("x min", "y min", "x max", "y max")},
    }


def _attachment(rng: random.Random, texts: Sequence[str]) -> Any:
    return {
        "file name": f"{_some(rng, texts, 20)}.png",
        "sha256": f"{rng.getrandbits(256):064x}",
        "content": base64.b64encode(rng.randbytes(rng.randint(20, 300))).decode(),
        "session token": ".".join(base64.urlsafe_b64encode(rng.randbytes(size)).decode() for size in (30, 60)),
    }


def _thread(rng: random.Random, texts: Sequence[str]) -> Any:
    messages = [{"role": role, "content": _some(rng, texts, 300)} for role in ("user", "assistant") * rng.randint(1, 3)]
    return {"thread id": rng.getrandbits(40), "messages": messages, "meta data": {"source": "chat", "lang": None}}


def _page(rng: random.Random, texts: Sequence[str]) -> Any:
    return {
        "url": f"https://www.example.org/{'/'.join(_some(rng, texts, 12).replace(' ', '-') for _ in range(3))}.html",
        "html": f'<div class="card mb-{rng.randint(0, 5)}">\n\t<p>{_some(rng, texts, 150)}</p>\n</div>',
        "tags": [_some(rng, texts, 12) for _ in range(4)],
        "path": f"C:\\Users\\{_some(rng, texts, 8)}\\Documents\\{rng.randint(1, 99)}.txt",
    }


#: Random bytes are in both, and are never the same.
SHAPES: tuple[Shape, ...] = (_reply, _tool, _measurements, _attachment)
HELD_OUT_SHAPES: tuple[Shape, ...] = (_thread, _page, _attachment)


def _camel(key: str) -> str:
    first, *others = key.split(" ")
    return first + "".join(other.capitalize() for other in others)


_SPELLINGS: tuple[Callable[[str], str], ...] = (
    _camel,
    lambda key: key.replace(" ", "_"),
    lambda key: key.replace(" ", "-"),
    lambda key: _camel(key)[:1].upper() + _camel(key)[1:],
    lambda key: key.replace(" ", "_").upper(),
)


def _spelled(value: Any, spelling: Callable[[str], str]) -> Any:
    """A value with every key in one spelling."""
    if isinstance(value, dict):
        return {spelling(key): _spelled(each, spelling) for key, each in value.items()}
    return [_spelled(each, spelling) for each in value] if isinstance(value, list) else value
