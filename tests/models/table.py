"""The table of docs/models.md: what is published of each model, beside what is built and counted here.

    python -m tests.models.table > docs/models.md
    python -m tests.models.table --memory    # only the last column, from what is shipped

It needs torch, transformers, the published tokenizers (``python -m tests.tokenizers``) and, for Mistral's own,
mistral-common. Nothing is downloaded from the Hub.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lint_dataset.conversations import convert, parse
from lint_dataset.models import MODELS, Model, shipped_recipes
from tests import tokenizers
from tests.models.built import built, left_out, parameters

PAGE = Path(__file__).parents[2] / "docs" / "models.md"
#: What is counted: three turns of prose, code, numbers and Chinese.
CONVERSATION = [
    {"role": "user", "content": "How many seconds are there in a week, and how would I compute that in Python?"},
    {"role": "assistant", "content": "There are 604,800 of them:\n\n```python\nprint(7 * 24 * 60 * 60)\n```"},
    {"role": "user", "content": "请用中文再说一遍。"},
    {"role": "assistant", "content": "一个星期有 604,800 秒。"},
]

#: The tokenizers that package registries hold, and the models whose own they are, vocabulary and template.
REGISTRY = {
    "gemma3n": ("gemma-3n-",),
    "gemma3": ("gemma-3-",),
    "qwen3": ("Qwen3-0.6B", "Qwen3-1.7B", "Qwen3-4B", "Qwen3-8B", "Qwen3-14B", "Qwen3-32B", "Qwen3-30B-A3B"),
    "llama3_1": ("Llama-3.",),
    "tekken_240718": ("Mistral-Nemo",),
}
#: Tuned anew in July 2025, with another template.
NOT_THEIRS = ("Qwen3-4B-Instruct-2507", "Qwen3-30B-A3B-Instruct-2507")
#: What no configuration in the table tells.
TYPES = {
    "Qwen2.5-Omni-3B": "qwen2_5_omni",
    "Qwen3-Omni-30B-A3B": "qwen3_omni_moe",
    "Phi-4-multimodal": "phi4_multimodal",
}

HEAD = """\
# Models

`--model` takes a short name of this table, any repository of the Hugging Face Hub (`owner/name`), or a folder. Letter
case does not matter. A base model (`google/gemma-3-4b-pt`), a copy by unsloth and its 4-bit weights are known by the
names of their repositories, too: their memory is that of the model, their processor is their own. `lint-dataset
--list-models` prints the names; a name that is nearly one of them is answered with what was probably meant.

- `--revision REV` takes the processor of a branch, a tag or a commit. Measurements are kept by what the processor
  holds: revisions that differ are measured apart, equal ones share.
- `--chat-template FILE` renders with a Jinja template of your own; its text is part of what measurements are kept by.
- `--prefetch` downloads the processor (never weights or code) and prints where it is. After that `--offline` runs,
  such as a hook, need no network. A download that was interrupted is not used; it is completed by the next one.
- A gated model needs `hf auth login` or `HF_TOKEN`. Where unsloth holds the same processor ungated, the message says
  so, and its copy in the Hub's cache is taken.
- A folder that holds Mistral's own `tekken.json` and no `tokenizer.json` is read by mistral-common (`pip install
  mistral-common`) in its fine-tuning mode. Counts and answers are exact; clips and images in it are not counted.

## What is known of each

Made by `python -m tests.models.table > docs/models.md`.

**Parameters**: as published, and those of the model that transformers {transformers} builds from our configuration on
the meta device; what is published in figures with B or M is rounded by the publisher. **Tokens**: of one reference
conversation, by this tool and by transformers' own `apply_chat_template(tokenize=True)`, where a package registry holds
the model's tokenizer (Gemma 3's vocabulary with Gemma 3n's ids and a template of ours for Gemma 3n; Llama 3's template
for Llama 3.1 to 3.3). A dash is a thing that could not be checked here. **Memory**: for how many recipes (method,
precision, checkpointing, loss, device) step programs are shipped, so that no torch is needed; `trace` where all are
traced on first use (`pip install 'lint-dataset[trace]'`, one to six seconds each), and what no configuration here says
is taken from the `config.json` in the Hub's cache; "not known" where steps cannot be traced yet.

| name | repository | processor | published | built | tokens, ours | tokens, transformers | memory |
|---|---|---|---:|---:|---:|---:|---:|
"""

FOOT = """
¹ The published files hold parameters that transformers does not build; their number was computed from the shapes, and
both together are what is published. Gemma 3n and Gemma 4: keys, values and norms of layers that use those of an earlier
layer, and one factor a layer (Gemma 4). Qwen3.5: the layer that predicts the token after the next one.

Models without a built figure have no configuration here, as none that we could find gave the published number. Of
Qwen2.5-Omni 3B and Qwen3-Omni we do not know the sizes of the talker; the 5.6 billion parameters of Phi-4-multimodal
include two sets of LoRA weights, which transformers does not build. Their tokens are counted all the same; their memory
is traced from the `config.json` in the Hub's cache, where there is one.

## Where the facts come from

Configurations are facts of the publishers' `config.json`, read from copies in public projects: litgpt (Llama, Qwen2.5,
Qwen3, Phi, SmolLM2, TinyLlama, Mistral 7B, Gemma 3, the DeepSeek distills), NVIDIA's aiconfigurator (Qwen3-VL, Qwen3.5
27B and 35B-A3B, GPT-OSS, Gemma 4 26B-A4B), MaxText and the conversion script of transformers (Gemma 4), tt-metal
(Qwen2.5-VL 7B, Qwen3.5 9B, Voxtral Mini), slime (Qwen3.5, GLM-4), MLC LLM (Ministral 3), IBM's foundation-model-stack
(Granite 3.3), and copies of single files (SmolLM3, Granite, Qwen2.5-VL, Mistral Small); else they are the defaults of
transformers' own configuration class (Ministral 3 8B, GLM-4 9B, Qwen2.5-Omni 7B) or the published sizes (Whisper). The
check is the same for all: the model that they build has the published number of parameters. A number cannot show
everything: lengths, windows and norms are as the copies have them.

No copy was at hand for some sizes of Ministral 3 14B, Mistral Nemo, Ministral 8B, Qwen2.5-VL 32B and 72B, GLM-4 32B,
Granite 4 h-tiny and h-small, Qwen2-Audio, the talker of Qwen2.5-Omni 7B, Gemma 3 270M, Qwen3.5 0.8B, and for Whisper:
they are from general knowledge, and the number of parameters is all that speaks for them. For Ministral 3 14B, GLM-4
32B, Qwen2.5-VL 72B, h-tiny, Qwen2-Audio and Omni 7B that number is itself a rounded one.
"""


def folder_of(name: str) -> Path | None:
    """The folder of a tokenizer that a registry holds; None, said on standard error, where it cannot be had."""
    try:
        if name == "gemma3n":
            return tokenizers.gemma3n()
        if not name.startswith("tekken"):
            return tokenizers.published(name)
        import mistral_common

        folder = Path(tempfile.mkdtemp())
        shutil.copy(Path(mistral_common.__file__).parent / "data" / f"{name}.json", folder / "tekken.json")
        (folder / "config.json").write_text('{"model_type": "mistral"}', encoding="utf-8")
        return folder
    except (tokenizers.Unfetchable, ImportError) as problem:
        print(f"{name}: {problem}", file=sys.stderr)
        return None


def counts(folder: Path) -> tuple[int, int]:
    """Tokens of the reference conversation by this tool, and by transformers itself."""
    import json

    from transformers import AutoTokenizer, MistralCommonBackend

    from lint_dataset.processors import load, locate
    from lint_dataset.processors.counting import count
    from lint_dataset.processors.rendering import render

    processor = load(locate(None, str(folder)))
    conversation, _ = convert(parse(json.dumps({"messages": CONVERSATION}).encode())[0])
    assert conversation is not None
    rendered, _ = render(conversation, processor, "")
    assert rendered is not None
    (encoding,) = processor.encode([rendered.text], rendered.add_special_tokens)
    ours = count(rendered, encoding, processor)[0]["tokens"]
    theirs: Any
    if (folder / "tekken.json").is_file():
        theirs = MistralCommonBackend.from_pretrained(folder, mode="finetuning")
    else:
        theirs = AutoTokenizer.from_pretrained(folder)
    return ours, len(theirs.apply_chat_template(CONVERSATION, tokenize=True, return_dict=True)["input_ids"])


def processor_class(model: Model) -> str:
    """The class that transformers takes for the model's processor: a processor, else a tokenizer."""
    from transformers.models.auto import processing_auto, tokenization_auto

    kind = model.config.get("model_type") or TYPES[model.alias]
    if kind == "ministral3" or model.alias.startswith(("Ministral-3", "Mistral-Small-3")):
        return "PixtralProcessor"
    if name := processing_auto.PROCESSOR_MAPPING_NAMES.get(kind):
        return str(name)
    name = tokenization_auto.TOKENIZER_MAPPING_NAMES.get(kind)
    return str((name[1] or name[0]) if isinstance(name, tuple) else name or "TokenizersBackend")


def rows() -> Iterator[str]:
    """One row a model."""
    counted: dict[str, tuple[int, int] | None] = {}
    for model in MODELS:
        made, note = "–", ""
        if model.config:
            whole = built(model)
            made = f"{parameters(whole):,}"
            note = "¹" if not model.published.endswith(("B", "M")) and left_out(whole.config) else ""
        own = [
            key for key, names in REGISTRY.items() if model.alias.startswith(names) and model.alias not in NOT_THEIRS
        ]
        tokens: tuple[int, int] | None = None
        if own:
            if own[0] not in counted:
                folder = folder_of(own[0])
                counted[own[0]] = counts(folder) if folder is not None else None
            tokens = counted[own[0]]
        ours, theirs = (str(tokens[0]), str(tokens[1])) if tokens else ("–", "–")
        name = f"{model.alias} | {model.hub_id} | {processor_class(model)}"
        yield f"| {name} | {model.published} | {made}{note} | {ours} | {theirs} | {memory(model)} |"


def memory(model: Model) -> str:
    """For how many recipes the memory of a model is shipped."""
    return "not known" if model.untraced else str(shipped_recipes(model) or "trace")


def with_memory(page: str) -> str:
    """The page with its last column made anew: the others take minutes."""
    names = {model.alias: model for model in MODELS}
    lines = []
    for line in page.splitlines():
        cells = line.split(" | ")
        model = names.get(cells[0].removeprefix("| "))
        lines.append(" | ".join([*cells[:-1], f"{memory(model)} |"]) if model else line)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    from importlib.metadata import version

    if "--memory" in sys.argv:
        print(with_memory(PAGE.read_text(encoding="utf-8")), end="")
        sys.exit()
    print(HEAD.format(transformers=version("transformers")), end="")
    for row in rows():
        print(row, flush=True)
    print(FOOT, end="")
