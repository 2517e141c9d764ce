"""The chat template of a processor as text, read from its files: what it says about itself without being rendered."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from lint_dataset.processors.location import Location

#: The Jinja block that transformers' ``return_assistant_tokens_mask`` takes for what the assistant says.
_GENERATION = re.compile(r"\{%[-+]?\s*generation\s*[-+]?%\}")


def template_of(location: Location) -> str | None:
    """The template that conversations are rendered with, None where the processor has none that is a file.

    As transformers looks for it: a template of its own, ``chat_template.jinja``, ``chat_template.json``, the key
    ``chat_template`` of ``tokenizer_config.json``; of several the one named ``default``. Nothing is imported for it, so
    a run whose rows all come from the cache can ask too.
    """
    if location.chat_template is not None:
        return location.chat_template
    folder = Path(location.folder)
    own = folder / "chat_template.jinja"
    if own.is_file():
        return own.read_text(encoding="utf-8", errors="replace")
    for name in ("chat_template.json", "tokenizer_config.json"):
        template = _default(_object(folder / name).get("chat_template"))
        if template:
            return template
    return None


def has_generation_tags(template: str | None) -> bool:
    """Whether a template marks what the assistant says with ``{% generation %}``.

    Without the tags ``return_assistant_tokens_mask`` is all zeros, and a trainer that masks by it trains on nothing.
    """
    return template is not None and _GENERATION.search(template) is not None


def _object(path: Path) -> dict[str, Any]:
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def _default(template: Any) -> str | None:
    """One template of what a configuration holds: a text, or a list of named ones."""
    if isinstance(template, list):
        named = {one.get("name"): one.get("template") for one in template if isinstance(one, dict)}
        template = named.get("default")
    return template if isinstance(template, str) else None
