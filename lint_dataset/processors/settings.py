"""What the files of a processor say of it, whether or not transformers can load it here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

_FILES = ("preprocessor_config.json", "processor_config.json")
_AUDIO = ("feature_extractor", "audio_processor")
_IMAGE = ("image_processor",)


class Settings(NamedTuple):
    """The class name of a processor, and what is set for itself, for its feature extractor and its image processor.

    In a repository of transformers 4 all of them stand in one file, and the three are the same.
    """

    processor: str
    own: Mapping[str, Any]
    audio: Mapping[str, Any]
    image: Mapping[str, Any]

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> Settings:
        """From the content of the files, as one object."""
        parts: list[Mapping[str, Any]] = []
        for keys in (_AUDIO, _IMAGE):
            own: Mapping[str, Any] = next((config[key] for key in keys if isinstance(config.get(key), dict)), {})
            parts.append({**config, **own})
        return cls(str(config.get("processor_class") or ""), config, *parts)

    @classmethod
    def read(cls, folder: Path) -> Settings:
        """From the files in a folder. What is not there, or is no JSON object, says nothing."""
        config: dict[str, Any] = {}
        for name in ("tokenizer_config.json", *_FILES):
            try:
                content = json.loads((folder / name).read_text(encoding="utf-8"))
            except (OSError, ValueError):
                continue
            if isinstance(content, dict) and name in _FILES:
                config |= content
            elif isinstance(content, dict) and content.get("processor_class"):
                config["processor_class"] = content["processor_class"]
        return cls.of(config)


def class_of(folder: Path) -> str | None:
    """The name of the class of the processor in a folder, such as ``Gemma3nProcessor``; None where no file says it."""
    return Settings.read(folder).processor or None


def whole(settings: Mapping[str, Any], key: str, default: int) -> int:
    """A setting that is a whole number, or what the class takes without it."""
    value = settings.get(key)
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else default
