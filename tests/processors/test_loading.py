"""Loading: whole where it can be, in parts where a package is missing, never code from a repository."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lint_dataset.processors import ProcessorUnavailable, load, locate
from tests.processors.exact import chat, measured


def linked(source: Path, folder: Path, **changed: object) -> Path:
    """A copy of a processor's folder with some files written anew."""
    folder.mkdir()
    for file in source.iterdir():
        (folder / file.name).symlink_to(file)
    for name, content in changed.items():
        path = folder / name.replace("__", ".")
        path.unlink(missing_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


def test_a_whole_processor_and_a_tokenizer(gemma3n, loaded) -> None:
    assert type(gemma3n.whole).__name__ == "Gemma3nProcessor"
    assert set(gemma3n.expansion.slots) == {"audio", "image"}
    assert gemma3n.expansion.ear[:2] == (16000, 480_000)
    assert loaded("qwen3").whole is None
    assert loaded("qwen3").expansion.slots == {}


@pytest.mark.parametrize(
    ("name", "markers", "header"),
    [
        ("gemma3n", ("<end_of_turn>", "<eos>"), "<start_of_turn>model\n"),
        ("qwen3", ("<|im_end|>",), "<|im_start|>assistant\n"),
        ("llama3_1", ("<|eot_id|>",), "<|start_header_id|>assistant<|end_header_id|>\n\n"),
        ("deepseek_v3", ("<｜end▁of▁sentence｜>",), "<｜Assistant｜>"),
    ],
)
def test_how_a_template_closes_a_turn(name: str, markers: tuple[str, ...], header: str, loaded) -> None:
    found = loaded(name).closers
    assert (found.markers, found.header) == (markers, header)


@pytest.mark.parametrize(
    ("template", "markers"),
    [
        # The last turn ends in its own way.
        ("{% for m in messages %}{{ m.role }}\n{{ m.content }}{{ '<|endoftext|>' if loop.last else '<|im_end|>' }}"
         "{% endfor %}", ("<|endoftext|>", "<|im_end|>")),
        # A turn ends where the next begins.
        ("{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}", ("<|im_end|>",)),
        ("{% for m in messages %}{{ m.role }}: {{ m.content }}\n\n{% endfor %}", ("<|im_end|>",)),
        # Only parts are taken.
        ("{% for m in messages %}{% for p in m.content %}{{ p.text }}<|endoftext|>{% endfor %}{% endfor %}",
         ("<|endoftext|>", "<|im_end|>")),
        # Nothing is taken.
        ("{{ raise_exception('no') }}", ("<|im_end|>",)),
    ],
)  # fmt: skip
def test_how_other_templates_close_a_turn(template: str, markers: tuple[str, ...], with_template) -> None:
    assert with_template(template).closers.markers == markers


def test_code_of_a_repository_is_never_run(fetched, tmp_path: Path) -> None:
    witness = tmp_path / "ran"
    config = json.loads((fetched("qwen3") / "tokenizer_config.json").read_text())
    config |= {"auto_map": {"AutoTokenizer": ["own.Own", "own.Own"]}, "tokenizer_class": "Own"}
    config.pop("processor_class", None)
    folder = linked(fetched("qwen3"), tmp_path / "own", tokenizer_config__json=config)
    (folder / "own.py").write_text(f"open({str(witness)!r}, 'w')\nclass Own: pass\n")
    with pytest.raises(ProcessorUnavailable, match="remote code is never run") as raised:
        load(locate(None, str(folder)))
    assert "\n" not in str(raised.value)
    assert not witness.exists()


@pytest.mark.parametrize("broken", ["{", "[]", '{"version": "1.0"}'])
def test_a_broken_tokenizer_is_said_in_a_line(fetched, tmp_path: Path, broken: str) -> None:
    folder = linked(fetched("qwen3"), tmp_path / "own", tokenizer__json=broken)
    with pytest.raises(ProcessorUnavailable, match="cannot load") as raised:
        load(locate(None, str(folder)))
    assert "\n" not in str(raised.value)


def test_in_parts_where_the_whole_needs_a_package_that_is_missing(
    gemma3n_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import transformers

    def refuse(*_: object, **__: object) -> None:
        raise ImportError("VideoProcessor requires the Torchvision library")

    monkeypatch.setattr(transformers.AutoProcessor, "from_pretrained", refuse)
    processor = load(locate(None, str(gemma3n_folder)))
    assert processor.whole is None
    assert processor.expansion.ear[:2] == (16000, 480_000)
    (row,) = measured(processor, [{"messages": chat("hi", "hello")}])
    assert (row["tokens"], row["codes"]) == (13, [])


def test_gemma_4_in_parts(gemma3n_folder: Path, tmp_path: Path) -> None:
    """Its settings and its tokens' names, over the vocabulary of Gemma 3n: its processor is not asked."""
    from lint_dataset.processors import expansion
    from lint_dataset.processors.loading import Processor
    from lint_dataset.processors.settings import Settings
    from tests.processors.test_audio import spoken, tone

    whole = load(locate(None, str(gemma3n_folder)))
    settings = Settings.of({"processor_class": "Gemma4Processor"})
    processor = Processor(whole.tokenizer, None, expansion.read(None, whole.tokenizer, settings))
    (found,) = measured(processor, [spoken(tone(tmp_path / "clip.wav", 48_000))], str(tmp_path))
    (medium,) = found["media"]
    assert medium["end"] - medium["start"] == 75  # 25 a second
    assert found["codes"] == []


def test_a_processor_that_needs_torchvision_counts_by_its_formula(fetched, tmp_path: Path) -> None:
    """Qwen2.5-Omni: 25 tokens a second, 300 s of 600 heard; its image is 28 x 28 pixels a token."""
    from PIL import Image

    from tests.processors import real
    from tests.processors.test_audio import tone

    fetched("qwen3")
    real.tokenizer(**real.OMNI).save_pretrained(tmp_path)
    (tmp_path / "chat_template.jinja").write_text(real.template("<|AUDIO|>", "<|IMAGE|>"))
    images = {"min_pixels": 3136, "max_pixels": 12845056, "image_processor_type": "Qwen2VLImageProcessor"}
    hears = {"chunk_length": 300, "n_samples": 4_800_000, "feature_extractor_type": "WhisperFeatureExtractor"}
    settings = {"processor_class": "Qwen2_5OmniProcessor", "feature_extractor": hears, "image_processor": images}
    settings["video_processor"] = {"video_processor_type": "Qwen2VLVideoProcessor"}
    (tmp_path / "processor_config.json").write_text(json.dumps(settings))
    processor = load(locate(None, str(tmp_path)))
    tone(tmp_path / "half.wav", 480_000)
    tone(tmp_path / "long.wav", 9_600_000)
    Image.new("RGB", (560, 280)).save(tmp_path / "picture.png")
    parts = [{"type": "audio", "audio": "half.wav"}, {"type": "audio", "audio": "long.wav"}]
    parts.append({"type": "image", "image": "picture.png"})
    row = {"messages": [{"role": "user", "content": parts}, {"role": "assistant", "content": "yes"}]}
    (found,) = measured(processor, [row], str(tmp_path))
    assert [medium["end"] - medium["start"] for medium in found["media"]] == [750, 7500, 200]
    assert found["codes"] == ["A001"]
