"""The template as its files give it is the one that is rendered with, and its generation tags are seen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lint_dataset.processors import Location
from lint_dataset.processors.templates import has_generation_tags, template_of


@pytest.mark.parametrize("name", ["gemma3", "gemma3n", "gemini", "qwen3", "llama3_1", "deepseek_v3"])
def test_it_is_the_template_that_transformers_loads(name: str, fetched, loaded) -> None:
    template = template_of(Location(name, str(fetched(name)), ""))
    assert template == loaded(name).template
    assert not has_generation_tags(template)


def test_where_transformers_looks(tmp_path: Path) -> None:
    here = Location("x", str(tmp_path), "")
    config = tmp_path / "tokenizer_config.json"
    assert template_of(here) is None
    config.write_text("{")
    assert template_of(here) is None
    config.write_text(json.dumps({"chat_template": "in the configuration"}))
    assert template_of(here) == "in the configuration"
    config.write_text(
        json.dumps({"chat_template": [{"name": "tool_use", "template": "t"}, {"name": "default", "template": "d"}]})
    )
    assert template_of(here) == "d"
    (tmp_path / "chat_template.json").write_text(json.dumps({"chat_template": "the processor's"}))
    assert template_of(here) == "the processor's"
    (tmp_path / "chat_template.jinja").write_text("a file of its own")
    assert template_of(here) == "a file of its own"
    assert template_of(here._replace(chat_template="given")) == "given"


@pytest.mark.parametrize("tag", ["{% generation %}", "{%- generation -%}", "{%-generation%}", "{%+ generation %}"])
def test_tags_in_every_spelling_give_the_mask_of_transformers(tag: str, with_template) -> None:
    """The mask of transformers is the truth: ones where the tags are, zeros without them."""
    body = "{%% for m in messages %%}<|im_start|>{{ m.role }}\n%s{{ m.content }}%s<|im_end|>\n{%% endfor %%}"
    template = body % (tag, "{% endgeneration %}")
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    for text, tagged in ((template, True), (body % ("", ""), False)):
        processor = with_template(text)
        found = processor.tokenizer.apply_chat_template(
            messages, tokenize=True, return_dict=True, return_assistant_tokens_mask=True
        )
        assert has_generation_tags(processor.template) is (1 in found["assistant_masks"]) is tagged
