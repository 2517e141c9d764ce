"""Our counts of clips and images held against the real processors, as the tables of docs/audio.md.

    python -m tests.processors.prove [--record] [MODEL …]

Needs torch, torchvision, torchaudio, num2words and mistral-common. ``--record`` keeps what the processors counted in
``tests/data/media_counts.json``, which the tests hold the formulas against where these packages are not.
"""

from __future__ import annotations

import itertools
import json
import sys
import tempfile
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from tests.processors import real

RECORD = Path(__file__).parent.parent / "data" / "media_counts.json"
RATES = (8000, 16000, 44100)
#: Samples at 16 kHz: around every edge that a formula has, then longer ones, up to past 30 s.
LENGTHS = sorted({
    1, 2, 80, 159, 160, 161, 200, 201, 257, 319, 320, 321, 399, 400, 401, 480, 512, 513, 639, 640, 641, 799, 960, 1119,
    1279, 1280, 1281, 1600, 1601, 2399, 2400, 7999, 8000, 15999, 16000, 16001, 16159, 31999, 80000, 123_457, 240_000,
    479_839, 479_999, 480_000, 480_001, 480_160, 500_000, 960_001,
})  # fmt: skip
#: Lengths past the windows of the models that hear for minutes.
LONG = {"Qwen2.5-Omni": (4_799_999, 4_800_000, 4_900_000), "Audio Flamingo 3": (9_599_999, 9_600_000, 9_700_000),
        "GLM-ASR": (10_079_999, 10_080_001, 10_200_000)}  # fmt: skip
SIZES = [
    (height, width)
    for height in (1, 13, 28, 100, 224, 336, 337, 500, 672, 1000, 1540, 3400)
    for width in (14, 29, 224, 511, 777, 1024, 4000)
]


def _declare_operators() -> None:
    """A torchvision built for CUDA beside a torch without: what it looks up at import is declared."""
    import torch

    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    globals()["_library"] = library


def soft_of(whole: Any, kind: str) -> str:
    """The token whose embedding the encoder replaces."""
    if kind == "image" and type(whole).__name__ == "Llama4Processor":
        return "<|patch|>"
    return str(getattr(whole, f"{kind}_token"))


def placeholder_of(whole: Any, kind: str) -> str:
    if type(whole).__name__ == "Gemma3Processor":
        return str(whole.boi_token)
    return str(getattr(whole, f"{kind}_token"))


def counted(whole: Any, kind: str, media: Any) -> int | None:
    """How many tokens the processor makes of one medium, markers included; None where it refuses it."""
    if type(whole).__name__ == "VoxtralProcessor":
        return spoken(whole, media)
    text = placeholder_of(whole, kind)
    try:
        given = {"audio": [media]} if kind == "audio" else {"images": [media]}
        ids = whole(text=[text], **given)["input_ids"]
    except Exception:  # whatever it raises, it would raise in training
        return None
    return len(ids[0])


def spoken(whole: Any, samples: Any) -> int:
    """How many tokens Voxtral's processor, which takes no placeholders, makes of a clip in a conversation."""
    import base64
    import io

    import soundfile

    file = io.BytesIO()
    soundfile.write(file, samples, 16000, "FLOAT", format="WAV")
    clip = {"type": "audio", "base64": base64.b64encode(file.getvalue()).decode()}
    ids = whole.apply_chat_template([{"role": "user", "content": [clip]}])["input_ids"][0].tolist()
    return sum(whole.tokenizer.convert_ids_to_tokens(ids).count(token) for token in ("[AUDIO]", "[BEGIN_AUDIO]"))


def ours(whole: Any, expansion: Any, kind: str, size: Any) -> int | None:
    try:
        text = expansion.slots[kind].replacement(size)
    except ValueError:
        return None
    if text is None:
        return None
    if type(whole).__name__ == "VoxtralProcessor":
        return text.count("[AUDIO]") + text.count("[BEGIN_AUDIO]")
    return len(whole.tokenizer(text)["input_ids"])


def hear(name: str, folder: Path) -> dict[str, Any]:
    """Every length at every rate, mono and stereo, through files.

    The file is read and resampled by ``load_audio`` for each of them. What the processor makes of an array of that
    length is asked once: its count depends on nothing else, and a clip that is padded to minutes takes seconds.
    """
    import soundfile
    from transformers.audio_utils import load_audio

    from lint_dataset.processors import expansion
    from lint_dataset.processors.audio import listen
    from lint_dataset.processors.settings import Settings

    whole = real.HEAR[name](name)
    whole.save_pretrained(folder / "processor")
    read = expansion.read(None, whole.tokenizer, Settings.read(folder / "processor"))
    found: dict[str, Any] = {"clips": 0, "refused": 0, "mismatches": [], "real_s": 0.0, "our_s": 0.0}
    noise = np.random.default_rng(1)
    known: dict[int, int | None] = {}
    for length in (*LENGTHS, *LONG.get(name, ())):
        for rate, channels in itertools.product(RATES, (1, 2)):
            path = folder / "clip.wav"
            frames = max(1, length * rate // 16000)
            soundfile.write(path, noise.standard_normal((frames, channels), np.float32) / 9, rate)
            samples = load_audio(str(path), sampling_rate=16000)
            start = time.perf_counter()
            if len(samples) not in known:
                known[len(samples)] = counted(whole, "audio", samples)
            theirs = known[len(samples)]
            middle = time.perf_counter()
            clip = listen("clip.wav", str(folder), read.ear, {})
            own = ours(whole, read, "audio", clip.samples)
            found["real_s"] += middle - start
            found["our_s"] += time.perf_counter() - middle
            found["clips"] += 1
            found["refused"] += theirs is None
            too_short = clip.samples is None or clip.samples < read.ear.shortest
            wrong = (theirs is None and not too_short) or (theirs is not None and theirs != own)
            if wrong or clip.samples != len(samples):
                found["mismatches"].append([length, rate, channels, len(samples), theirs, clip.samples, own])
    found["counts"] = {str(samples): count for samples, count in sorted(known.items())}
    found["settings"] = json.loads((folder / "processor" / "processor_config.json").read_text())
    return found


def see(name: str, folder: Path) -> dict[str, Any]:
    """Every size of image. With a formula, and as the loaded processor is asked."""
    from PIL import Image

    from lint_dataset.processors import expansion
    from lint_dataset.processors.settings import Settings

    whole = real.SEE[name](name)
    whole.save_pretrained(folder / "processor")
    settings = Settings.read(folder / "processor")
    reads = [expansion.read(whole, whole.tokenizer, None)]
    if "image" in expansion.read(None, whole.tokenizer, settings).slots:
        reads.append(expansion.read(None, whole.tokenizer, settings))
    found: dict[str, Any] = {"images": 0, "refused": 0, "mismatches": [], "real_s": 0.0, "our_s": 0.0, "counts": {}}
    found["formula"] = len(reads) > 1
    for size in SIZES:
        image = Image.new("RGB", (size[1], size[0]), (90, 120, 40))
        start = time.perf_counter()
        theirs = counted(whole, "image", image)
        middle = time.perf_counter()
        found["real_s"] += middle - start
        own = ours(whole, reads[-1], "image", size)
        found["our_s"] += time.perf_counter() - middle
        both = {own} if len(reads) == 1 else {own, _asked(whole, reads[0], size)}
        found["images"] += 1
        found["refused"] += theirs is None
        if both != {theirs}:
            found["mismatches"].append([*size, theirs, *both])
        found["counts"][f"{size[0]}x{size[1]}"] = theirs
    found["settings"] = json.loads((folder / "processor" / "processor_config.json").read_text())
    return found


def _asked(whole: Any, expansion: Any, size: Any) -> int | None:
    try:
        return ours(whole, expansion, "image", size)
    except Exception:  # it refuses the image
        return None


def main(arguments: list[str]) -> None:
    _declare_operators()
    import transformers

    transformers.logging.set_verbosity_error()
    record = "--record" in arguments
    chosen = [name for name in arguments if not name.startswith("--")]
    known: dict[str, Any] = json.loads(RECORD.read_text()) if RECORD.exists() else {"audio": {}, "images": {}}
    for kind, models, prove in (("audio", real.HEAR, hear), ("images", real.SEE, see)):
        asked = "lengths" if kind == "audio" else "sizes"
        print(f"\n| model | {kind} | refused | mismatches | {asked} asked | processor | ours |\n|{'---|' * 7}")
        for name in models:
            if chosen and name not in chosen:
                continue
            with tempfile.TemporaryDirectory() as folder:
                found = prove(name, Path(folder))
            number = found["clips"] if kind == "audio" else found["images"]
            asked = len(found["counts"])
            times = f"{1000 * found['real_s'] / asked:.1f} ms | {1000 * found['our_s'] / number:.2f} ms"
            wrong = len(found["mismatches"])
            line = f"| {name} | {number} | {found['refused']} | {wrong} | {asked} | {times} |"
            print(line, flush=True)
            for mismatch in found["mismatches"][:6]:
                print("   ", mismatch, file=sys.stderr)
            known[kind][name] = {"settings": found["settings"], "counts": found["counts"], "mismatches": wrong}
            packages = ("transformers", "torch", "torchvision", "torchaudio", "mistral-common", "soundfile", "soxr")
            known["versions"] = {name: _version(name) for name in (*packages, "pillow")}
            if record:
                RECORD.write_text(json.dumps(known, sort_keys=True, separators=(",", ":")) + "\n")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


if __name__ == "__main__":
    main(sys.argv[1:])
