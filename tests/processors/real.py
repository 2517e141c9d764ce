"""Real processors of transformers, built from the parameters that their models are published with.

They need torch, torchvision, torchaudio and num2words, more than the tests' own environment has: what they count is
recorded by ``tests.processors.prove`` and kept in ``tests/data/media_counts.json``. The vocabulary is Qwen3's with
the media's tokens added: how many tokens a clip or an image takes does not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests import tokenizers

_TEMPLATE = (
    "{% for m in messages %}{{ m.role }}: {% if m.content is string %}{{ m.content }}{% else %}"
    "{% for p in m.content %}{% if p.type == 'text' %}{{ p.text }}{% elif p.type == 'audio' %}AUDIO"
    "{% elif p.type == 'image' %}IMAGE{% endif %}{% endfor %}{% endif %}\n{% endfor %}"
)
OMNI = {
    "image_token": "<|IMAGE|>", "audio_token": "<|AUDIO|>", "video_token": "<|VIDEO|>",
    "vision_bos_token": "<|vision_bos|>", "vision_eos_token": "<|vision_eos|>",
    "audio_bos_token": "<|audio_bos|>", "audio_eos_token": "<|audio_eos|>",
}  # fmt: skip
OMNI3 = {
    "image_token": "<|image_pad|>", "audio_token": "<|audio_pad|>", "video_token": "<|video_pad|>",
    "vision_bos_token": "<|vision_start|>", "vision_eos_token": "<|vision_end|>",
    "audio_bos_token": "<|audio_start|>", "audio_eos_token": "<|audio_end|>",
}  # fmt: skip
_GEMMA4 = {
    "audio_token": "<|audio|>", "boa_token": "<|audio>", "eoa_token": "<audio|>",
    "image_token": "<|image|>", "boi_token": "<|image>", "eoi_token": "<image|>",
}  # fmt: skip
_VISION = {"image_token": "<|image_pad|>", "video_token": "<|video_pad|>"}


def template(audio: str = "", image: str = "") -> str:
    return _TEMPLATE.replace("AUDIO", audio).replace("IMAGE", image)


def tokenizer(*extra: str, **special: str) -> Any:
    from transformers import AutoTokenizer

    made = AutoTokenizer.from_pretrained(tokenizers.published("qwen3"), extra_special_tokens=special)
    made.add_special_tokens({"additional_special_tokens": [*extra, *special.values()]})
    return made


def _whisper(seconds: int) -> Any:
    import transformers

    return transformers.WhisperFeatureExtractor(
        feature_size=128, sampling_rate=16000, hop_length=160, n_fft=400, chunk_length=seconds
    )


def _vision(patch: int, least: int, most: int) -> Any:
    import transformers

    return transformers.Qwen2VLImageProcessor(
        patch_size=patch, merge_size=2, temporal_patch_size=2, min_pixels=least, max_pixels=most
    )


def _omni(name: str) -> Any:
    import transformers as t

    if name == "Qwen2.5-Omni":
        text = template("<|audio_bos|><|AUDIO|><|audio_eos|>", "<|vision_bos|><|IMAGE|><|vision_eos|>")
        parts = (_vision(14, 3136, 12845056), t.Qwen2VLVideoProcessor(), _whisper(300), tokenizer(**OMNI))
        return t.Qwen2_5OmniProcessor(*parts, chat_template=text)
    text = template("<|audio_start|><|audio_pad|><|audio_end|>", "<|vision_start|><|image_pad|><|vision_end|>")
    parts = (_vision(16, 3136, 12845056), t.Qwen2VLVideoProcessor(), _whisper(30), tokenizer(**OMNI3))
    return t.Qwen3OmniMoeProcessor(*parts, chat_template=text)


def _qwen_vl(name: str) -> Any:
    import transformers as t

    text = template(image="<|vision_start|><|image_pad|><|vision_end|>")
    if name == "Qwen3-VL":
        words = tokenizer(**_VISION, vision_start_token="<|vision_start|>", vision_end_token="<|vision_end|>")
        return t.Qwen3VLProcessor(_vision(16, 65536, 16777216), words, t.Qwen3VLVideoProcessor(), chat_template=text)
    kind = t.Qwen2VLProcessor if name == "Qwen2-VL" else t.Qwen2_5_VLProcessor
    return kind(_vision(14, 3136, 12845056), tokenizer(**_VISION), t.Qwen2VLVideoProcessor(), chat_template=text)


def _gemma(name: str) -> Any:
    import transformers as t

    if name == "Gemma 3n":
        return t.AutoProcessor.from_pretrained(tokenizers.gemma3n())
    if name == "Gemma 3":
        special = {"image_token": "<image_soft_token>", "boi_token": "<start_of_image>", "eoi_token": "<end_of_image>"}
        images = t.Gemma3ImageProcessor(size={"height": 896, "width": 896})
        text = template(image="<start_of_image>")
        return t.Gemma3Processor(images, tokenizer(**special), chat_template=text, image_seq_length=256)
    text, words = template("<|audio|>", "<|image|>"), tokenizer(**_GEMMA4)
    if name == "Gemma 4":
        parts = (t.Gemma4AudioFeatureExtractor(), t.Gemma4ImageProcessor(), words, t.Gemma4VideoProcessor())
        return t.Gemma4Processor(*parts, chat_template=text)
    parts = (t.Gemma4UnifiedAudioFeatureExtractor(), t.Gemma4UnifiedImageProcessor(), words)
    return t.Gemma4UnifiedProcessor(*parts, t.Gemma4UnifiedVideoProcessor(), chat_template=text)


def _speech(name: str) -> Any:
    import transformers as t

    if name == "Qwen2-Audio":
        words = tokenizer("<|audio_bos|>", "<|AUDIO|>", "<|audio_eos|>")
        text = template("<|audio_bos|><|AUDIO|><|audio_eos|>")
        return t.Qwen2AudioProcessor(_whisper(30), words, chat_template=text)
    if name == "Phi-4-multimodal":
        words = tokenizer(audio_token="<|audio|>", image_token="<|image|>")
        parts = (t.Phi4MultimodalImageProcessor(), t.Phi4MultimodalFeatureExtractor(), words)
        return t.Phi4MultimodalProcessor(*parts, chat_template=template("<|audio|>", "<|image|>"))
    if name == "Granite speech":
        words = tokenizer(audio_token="<|audio|>")
        return t.GraniteSpeechProcessor(t.GraniteSpeechFeatureExtractor(), words, chat_template=template("<|audio|>"))
    if name == "Audio Flamingo 3":
        return t.AudioFlamingo3Processor(_whisper(30), tokenizer("<sound>"), chat_template=template("<sound>"))
    words = tokenizer("<|pad|>", "<|begin_of_audio|>", "<|end_of_audio|>")
    text = template("<|begin_of_audio|><|pad|><|end_of_audio|>")
    return t.GlmAsrProcessor(_whisper(30), words, chat_template=text)


def _voxtral(name: str) -> Any:
    """Voxtral's control tokens and audio parameters on the vocabulary that mistral-common brings along."""
    import json
    import tempfile
    from pathlib import Path

    import mistral_common
    import transformers as t
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer
    from transformers.tokenization_mistral_common import MistralCommonBackend

    tekken = json.loads((Path(mistral_common.__file__).parent / "data" / "tekken_240911.json").read_text())
    names = {token["rank"]: token["token_str"].value for token in Tekkenizer.DEPRECATED_SPECIAL_TOKENS}
    names |= {24: "[AUDIO]", 25: "[BEGIN_AUDIO]", 34: "[TRANSCRIBE]"}
    number = tekken["config"]["default_num_special_tokens"]
    tekken["special_tokens"] = [
        {"rank": rank, "token_str": names.get(rank, f"<SPECIAL_{rank}>"), "is_control": True} for rank in range(number)
    ]
    tekken["config"]["version"] = "v7"
    del tekken["image"]
    spectrogram = {"num_mel_bins": 128, "hop_length": 160, "window_size": 400}
    rates = {"sampling_rate": 16000, "frame_rate": 12.5, "chunk_length_s": 30.0}
    tekken["audio"] = {**rates, "audio_encoding_config": spectrogram}
    folder = Path(tempfile.mkdtemp())
    (folder / "tekken.json").write_text(json.dumps(tekken))
    return t.VoxtralProcessor(_whisper(30), MistralCommonBackend(str(folder / "tekken.json")))


def _tiles(name: str) -> Any:
    import transformers as t

    if name == "Llama 4":
        images = t.Llama4ImageProcessor(size={"height": 336, "width": 336}, max_patches=16, resize_to_max_canvas=False)
        text = template(image="<|image|>")
        words, ratio = tokenizer("<|patch|>"), 0.5
        return t.Llama4Processor(images, words, patch_size=14, pixel_shuffle_ratio=ratio, chat_template=text)
    words, text = tokenizer("[IMG]", "[IMG_BREAK]", "[IMG_END]"), template(image="[IMG]")
    if name == "Pixtral":
        images = t.PixtralImageProcessor(patch_size=16, size={"longest_edge": 1024})
        return t.PixtralProcessor(images, words, patch_size=16, chat_template=text)
    images = t.PixtralImageProcessor(patch_size=14, size={"longest_edge": 1540})
    return t.PixtralProcessor(images, words, patch_size=14, spatial_merge_size=2, chat_template=text)


def _others(name: str) -> Any:
    import transformers as t

    text = template(image="<image>")
    if name == "LLaVA 1.5":
        images = t.CLIPImageProcessor(size={"shortest_edge": 336}, crop_size={"height": 336, "width": 336})
        options = {"vision_feature_select_strategy": "default", "num_additional_image_tokens": 1}
        return t.LlavaProcessor(images, tokenizer("<image>"), patch_size=14, chat_template=text, **options)
    special = {"image_token": "<image>", "fake_image_token": "<fake_token_around_image>",
               "global_image_token": "<global-img>", "end_of_utterance_token": "<end_of_utterance>"}  # fmt: skip
    images = t.SmolVLMImageProcessor(size={"longest_edge": 2048}, max_image_size={"longest_edge": 512})
    words = tokenizer(**special)
    return t.SmolVLMProcessor(images, words, t.SmolVLMVideoProcessor(), image_seq_len=64, chat_template=text)


#: How each model's processor is made, the ones that hear first.
HEAR: dict[str, Callable[[str], Any]] = {
    "Gemma 3n": _gemma,
    "Gemma 4": _gemma,
    "Gemma 4 unified": _gemma,
    "Qwen2-Audio": _speech,
    "Qwen2.5-Omni": _omni,
    "Qwen3-Omni": _omni,
    "Phi-4-multimodal": _speech,
    "Granite speech": _speech,
    "Audio Flamingo 3": _speech,
    "GLM-ASR": _speech,
    "Voxtral": _voxtral,
}
SEE: dict[str, Callable[[str], Any]] = {
    "Gemma 3": _gemma,
    "Gemma 3n": _gemma,
    "Gemma 4": _gemma,
    "Gemma 4 unified": _gemma,
    "Qwen2-VL": _qwen_vl,
    "Qwen2.5-VL": _qwen_vl,
    "Qwen3-VL": _qwen_vl,
    "Qwen2.5-Omni": _omni,
    "Llama 4": _tiles,
    "Pixtral": _tiles,
    "Mistral 3": _tiles,
    "SmolVLM": _others,
    "LLaVA 1.5": _others,
}
