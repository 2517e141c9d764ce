"""The models that go by a short name: where their files are, and the facts that their memory is traced from.

The facts are data (``table.json``). A configuration is what the publisher's own ``config.json`` says, reduced to what
differs from the defaults of the configuration class in transformers. Each is checked by the number of parameters of
the model that it builds; where that could not be done it is left empty. docs/models.md is the table for people.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

#: What repositories of one model add to its name: the base model, and weights that are quantised already.
_BASE_ENDINGS = ("-base", "-pt", "-bf16")
_QUANTISED_ENDINGS = ("-unsloth-bnb-4bit", "-bnb-4bit")


@dataclass(frozen=True)
class Model:
    """A model that people fine-tune."""

    #: The short name, as ``--model`` takes it (letter case does not matter).
    alias: str
    #: The repository on the Hugging Face Hub, and one with the same processor that asks for no licence click.
    hub_id: str
    mirror: str | None
    #: Parameters of the published weights; embeddings that share a tensor count once.
    parameters: int
    #: ``model_type`` and what differs from the defaults of its configuration class in transformers. Empty where no
    #: published configuration gave the published number of parameters.
    config: dict[str, Any]
    #: The number of parameters as the publisher states it: exact, or in billions (B) or millions (M), a sum of towers.
    published: str = field(default="", compare=False)
    #: Why its steps cannot be traced, to be read after its name; empty where they can.
    untraced: str = field(default="", compare=False)


def _read() -> tuple[Model, ...]:
    text = Path(__file__).with_name("table.json").read_text(encoding="utf-8")
    return tuple(
        Model(
            row["alias"],
            row["hub_id"],
            row.get("mirror"),
            row["parameters"],
            row["config"],
            row["published"],
            row.get("untraced", ""),
        )
        for row in json.loads(text)
    )


MODELS: tuple[Model, ...] = _read()


def find(name: str) -> Model | None:
    """The model of an alias or of a repository on the Hub (letter case does not matter), or None.

    Its base model, a copy of it by unsloth and its weights in 4 bits are the same model: they have the same shapes.
    """
    names = _names()
    return next((names[one] for one in _plainer(name.casefold()) if one in names), None)


def same_shapes(model: Model) -> Model:
    """The first model in the table whose steps hold what this one's do: a program traced from one is both's.

    They differ in nothing but their weights, the longest text they are made for and the epsilon of their norms.
    """
    if not model.config:
        return model
    return next(each for each in MODELS if each.config and _shapes(each) == _shapes(model))


def _shapes(model: Model) -> dict[str, Any]:
    return {key: value for key, value in model.config.items() if key not in ("max_position_embeddings", "rms_norm_eps")}


def near_misses(name: str) -> tuple[str, ...]:
    """Up to three aliases that somebody who wrote ``name`` may have meant, the likeliest first."""
    import difflib

    wanted = _letters(name)
    aliases = {_letters(own): model.alias for model in MODELS for own in (model.hub_id, model.alias)}
    begun = [model.alias for model in MODELS if len(wanted) > 2 and _letters(model.alias).startswith(wanted)]
    near = [aliases[one] for one in difflib.get_close_matches(wanted, aliases, n=6, cutoff=0.75)]
    return tuple(dict.fromkeys([*begun, *near]))[:3]


def _letters(name: str) -> str:
    """The letters and digits of a name without its owner: what is left of it in whatever way it is written."""
    return re.sub(r"[^a-z0-9]", "", name.rpartition("/")[2].casefold())


def did_you_mean(name: str) -> str:
    """The near misses of a name as the end of a message, empty where there are none."""
    near = near_misses(name)
    return f" (did you mean {' or '.join(near)}?)" if near else ""


def listing() -> str:
    """One line a model: its alias, its parameters, its repository on the Hub, and what is shipped of its memory."""
    width, wider = (max(len(getattr(model, name)) for model in MODELS) for name in ("alias", "hub_id"))
    lines = []
    for model in MODELS:
        recipes = shipped_recipes(model)
        memory = f"memory without torch: {recipes} recipes" if recipes else "memory is traced with torch"
        memory = "memory is not known" if model.untraced else memory
        lines.append(f"{model.alias:{width}}  {_billions(model.parameters):>8}  {model.hub_id:{wider}}  {memory}")
    return "\n".join(lines) + "\n"


def objects() -> list[dict[str, Any]]:
    """The same for tools to read."""
    return [
        {"alias": one.alias, "hub_id": one.hub_id, "mirror": one.mirror, "parameters": one.parameters} for one in MODELS
    ]


def shipped_recipes(model: Model) -> int:
    """For how many recipes (method, precision, checkpointing, loss ...) step programs of the model are shipped."""
    from lint_dataset.memory.store import keys

    return len(keys(same_shapes(model).alias))


def _billions(parameters: int) -> str:
    return f"{parameters / 1e9:.2f} B" if parameters >= 995e6 else f"{parameters / 1e6:.0f} M"


@cache
def _names() -> dict[str, Model]:
    """Every name of every model, in lower case. Aliases win over what is made from other names."""
    names = {model.alias.casefold(): model for model in MODELS}
    for model in MODELS:
        for name in _repositories(model):
            names.setdefault(name.casefold(), model)
            names.setdefault(name.rpartition("/")[2].casefold(), model)
    return names


def _repositories(model: Model) -> Iterator[str]:
    """The repositories that hold a model: as it is published, without its instruction tuning, and unsloth's copies."""
    owner, _, own = model.hub_id.rpartition("/")
    for name in (own, own.removesuffix("-it"), own.replace("-Instruct", ""), own.replace("-Instruct", "-Base")):
        yield f"{owner}/{name}"
        yield f"unsloth/{name}"
    if model.mirror is not None:
        yield model.mirror
    # Llama 3.1 was published under a longer name at first.
    if own.startswith("Llama-3.1"):
        for name in (own, own.replace("-Instruct", "")):
            yield f"{owner}/Meta-{name}"
            yield f"unsloth/Meta-{name}"


def _plainer(name: str) -> Iterator[str]:
    """A name in lower case, and the same without what a variant of the model adds to it."""
    yield name
    for quantised in (ending for ending in _QUANTISED_ENDINGS if name.endswith(ending)):
        name = name.removesuffix(quantised)
        yield name
    for base in (ending for ending in _BASE_ENDINGS if name.endswith(ending)):
        yield name.removesuffix(base)
