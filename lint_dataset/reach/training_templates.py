"""The chat templates for which TRL has a training template with generation tags of its own."""

from __future__ import annotations

import hashlib

#: The beginning of the SHA-256 of each template that TRL 1.16 takes the place of under ``assistant_only_loss``, by its
#: name there (``trl/chat_templates``).
KNOWN = {
    "cohere": "90c33aee14aa2a22",
    "cohere2": "2147c474f41b522b",
    "deepseek_r1_distill": "56a1447ad31926fd",
    "deepseekv3": "563b1ce7d61d50a9",
    "diffusion_gemma": "9aeb7eac68ad87bb",
    "gemma": "ecd6ae513fe103f0",
    "gemma3": "7de1c58e208eda46",
    "glm4moe": "44f815868bf02fa4",
    "gptoss": "a4c9919cbbd4acdd",
    "idefics3": "0d7e56ca41705b79",
    "lfm2": "cef187400d62a595",
    "lfm2_v2": "5504d163d879bfb6",
    "llama3": "ba03a121d097859c",
    "llava_next": "2c17243a977fd064",
    "muse_glimmer": "cfc67e5f349f3769",
    "nemotron_3_nano": "ab7813c3abdd9cb6",
    "nemotron_3_super": "575fb74f54ed264d",
    "nemotron_3_ultra": "82753bef5cedc493",
    "nemotron_3_5_lightning": "58933db77d3099b4",
    "phi3": "dcaee66df77bfbb7",
    "phi3_5": "78d976a442bcde2f",
    "qwen2_5": "cd8e9439f0570856",
    "qwen2_5_vl": "a0bc6f6fc7a29a80",
    "qwen3": "a55ee1b1660128b7",
    "qwen3_instruct_2507": "64f85b198065d0fb",
    "qwen3_vl": "3636d0f0bd6bef02",
    "qwen3_5_nothink": "273d8e0e683b8850",
    "qwen3_5_think": "a4aee8afcf2e0711",
    "qwen3_6": "e84f32a23fdda276",
    "qwen3_8": "c3cf9e34abf4f9e3",
    "smolvlm": "830005085ddd94ce",
}


def is_known(template: str) -> bool:
    """Whether TRL puts a training template of its own in the place of this one: for the very same text alone."""
    return hashlib.sha256(template.encode("utf-8", "surrogatepass")).hexdigest()[:16] in KNOWN.values()
