"""One row of each schema family, and what is said in it: (role, what it says), media as ``[audio a.wav]``."""

from __future__ import annotations

from typing import Any, NamedTuple


class Sample(NamedTuple):
    """A row, the family it is of, its turns, and the codes of its faults."""

    family: str
    row: dict[str, Any]
    turns: list[tuple[str, str]]
    faults: tuple[str, ...] = ()


QUESTION = ("user", "What is this?")
ANSWER = ("assistant", "A heron.")
ASKED = [{"role": "user", "content": "What is this?"}, {"role": "assistant", "content": "A heron."}]
SAID = [{"from": "human", "value": "What is this?"}, {"from": "gpt", "value": "A heron."}]
CALL = {"name": "look_up", "arguments": {"bird": "heron"}}

SAMPLES = [
    Sample("messages", {"messages": ASKED}, [QUESTION, ANSWER]),
    Sample(
        "messages",
        {"messages": [{"role": "developer", "content": "Be brief."}, *ASKED]},
        [("developer", "Be brief."), QUESTION, ANSWER],
    ),
    Sample(
        "messages",
        {
            "messages": [
                {"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "UklGRg=="}}]},
                {"role": "assistant", "content": [{"type": "text", "text": "A heron."}]},
            ]
        },
        [("user", "[audio {'data': 'UklGRg=='}]"), ANSWER],
    ),
    Sample(
        "messages",
        {
            "messages": [{"role": "user", "content": "<image>What, and <audio>?"}, ASKED[1]],
            "images": ["a.png"],
            "audios": ["a.wav"],
        },
        [("user", "[image a.png]What, and [audio a.wav]?"), ANSWER],
        ("S006", "S006"),
    ),
    Sample(
        "llama-factory-v1",
        {
            "messages": [
                {"role": "user", "content": [{"type": "text", "value": "What is this?"}], "loss_weight": 0.0},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "reasoning", "value": "Long legs."},
                        {"type": "text", "value": "Let me see."},
                        {"type": "tool_call", "value": '{"name": "look_up", "arguments": {"bird": "heron"}}'},
                    ],
                    "loss_weight": 1.0,
                },
                {"role": "tool", "content": [{"type": "text", "value": "grey"}]},
                {"role": "assistant", "content": [{"type": "text", "value": "A heron."}]},
            ],
            "tools": '[{"name": "look_up"}]',
        },
        [QUESTION, ("assistant", "Let me see."), ("tool", "grey"), ANSWER],
    ),
    Sample("sharegpt", {"conversations": SAID}, [QUESTION, ANSWER], ("S007",)),
    Sample(
        "llava",
        {
            "id": "1",
            "image": "a.png",
            "conversations": [{"from": "human", "value": "<image>\nWhat is this?"}, SAID[1]],
        },
        [("user", "[image a.png]\nWhat is this?"), ANSWER],
    ),
    Sample(
        "swift-pairs",
        {"system": "Be brief.", "conversation": [{"human": "What is this?", "assistant": "A heron."}]},
        [("system", "Be brief."), QUESTION, ANSWER],
    ),
    Sample(
        "query-response",
        {
            "query": "<img>a.png</img>What is this?",
            "response": "A heron.",
            "history": [["Hello?", "Hi."]],
            "system": "Be brief.",
        },
        [
            ("system", "Be brief."),
            ("user", "Hello?"),
            ("assistant", "Hi."),
            ("user", "[image a.png]What is this?"),
            ANSWER,
        ],
    ),
    Sample("query-response", {"response": "Herons stand."}, [("text", "Herons stand.")]),
    Sample("alpaca", {"instruction": "What is this?", "input": "", "output": "A heron."}, [QUESTION, ANSWER]),
    Sample("input-output", {"input": "What is this?", "output": "A heron."}, [QUESTION, ANSWER]),
    Sample("prompt-completion", {"prompt": "What? ", "completion": "A heron."}, [("text", "What? A heron.")]),
    Sample("prompt-completion", {"prompt": ASKED[:1], "completion": ASKED[1:]}, [QUESTION, ANSWER]),
    Sample("text", {"text": "Herons stand."}, [("text", "Herons stand.")]),
    Sample(
        "preference",
        {"conversations": SAID[:1], "chosen": SAID[1], "rejected": {"from": "gpt", "value": "A duck."}},
        [QUESTION, ANSWER],
    ),
    Sample("kto", {"messages": ASKED, "label": True}, [QUESTION, ANSWER]),
    Sample(
        "kto", {"prompt": "What? ", "completion": "A duck.", "label": False}, [("text", "What? A duck.")], ("S009",)
    ),
    Sample("rl-prompt", {"messages": ASKED[:1], "reference_answer": "heron"}, [QUESTION], ("M007",)),
    Sample("rl-prompt", {"prompt": ASKED[:1], "ground_truth": "heron"}, [QUESTION], ("M007",)),
    Sample(
        "anthropic",
        {
            "system": "Be brief.",
            "tools": [{"name": "look_up", "input_schema": {"type": "object", "properties": {"bird": {}}}}],
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "What is this?"},
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}},
                    ],
                },
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "Long legs."},
                        {"type": "tool_use", "id": "t1", "name": "look_up", "input": {"bird": "heron"}},
                    ],
                },
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "grey"}]},
                {"role": "assistant", "content": "A heron."},
            ],
        },
        [
            ("system", "Be brief."),
            ("user", "What is this?[image {'data': 'iVBO', 'url': None}]"),
            ("assistant", ""),
            ("tool", "grey"),
            ANSWER,
        ],
    ),
    Sample(
        "nova",
        {
            "schemaVersion": "bedrock-conversation-2024",
            "system": [{"text": "Be brief."}],
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"image": {"format": "png", "source": {"s3Location": {"uri": "s3://b/a.png"}}}},
                        {"text": "What is this?"},
                    ],
                },
                {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t1", "name": "look_up", "input": {}}}]},
                {"role": "user", "content": [{"toolResult": {"toolUseId": "t1", "content": [{"json": {"a": 1}}]}}]},
                {"role": "assistant", "content": [{"text": "A heron."}]},
            ],
        },
        [
            ("system", "Be brief."),
            ("user", "[image s3://b/a.png]What is this?"),
            ("assistant", ""),
            ("tool", '{"a": 1}'),
            ANSWER,
        ],
    ),
    Sample(
        "gemini",
        {
            "systemInstruction": {"role": "system", "parts": [{"text": "Be brief."}]},
            "contents": [
                {
                    "role": "user",
                    "parts": [{"fileData": {"mimeType": "audio/mpeg", "fileUri": "gs://b/a.mp3"}}, {"text": "What?"}],
                },
                {"role": "model", "parts": [{"functionCall": {"name": "look_up", "args": {"bird": "heron"}}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "look_up", "response": {"a": 1}}}]},
                {"role": "model", "parts": [{"text": "A "}, {"text": "heron."}]},
            ],
            "tools": [{"functionDeclarations": [{"name": "look_up", "parameters": {"type": "object"}}]}],
        },
        [
            ("system", "Be brief."),
            ("user", "[audio gs://b/a.mp3]What?"),
            ("assistant", ""),
            ("tool", '{"a": 1}'),
            ANSWER,
        ],
    ),
    Sample(
        "palm",
        {
            "context": "Be brief.",
            "messages": [{"author": "user", "content": "What is this?"}, {"author": "model", "content": "A heron."}],
        },
        [("system", "Be brief."), QUESTION, ANSWER],
    ),
    Sample(
        "palm",
        {"messages": [ASKED[0], {"role": "model", "content": "A heron."}]},
        [QUESTION, ANSWER],
    ),
    Sample(
        "asr-manifest",
        {"audio_filepath": "a.wav", "duration": 3.2, "text": "A heron."},
        [("user", "[audio {'path': 'a.wav', 'duration': 3.2}]"), ANSWER],
    ),
    Sample("asr-pair", {"audio": "a.wav", "text": "A heron."}, [("user", "[audio a.wav]"), ANSWER]),
    Sample("asr-pair", {"file_name": "a.wav", "transcription": "A heron."}, [("user", "[audio a.wav]"), ANSWER]),
    Sample("asr-pair", {"file_name": "a.png", "text": "A heron."}, [("user", "[image a.png]"), ANSWER]),
    Sample(
        "funasr",
        {"key": "k1", "source": "a.wav", "source_len": 90, "target": "A heron.", "target_len": 3},
        [("user", "[audio a.wav]"), ANSWER],
    ),
    Sample(
        "inline-audio",
        {
            "messages": [
                {"role": "user", "content": "What? <|startofspeech|>!https://x/a.wav<|endofspeech|>"},
                ASKED[1],
            ],
            "speech_length": 90,
        },
        [("user", "What? [audio https://x/a.wav]"), ANSWER],
    ),
    Sample(
        "kimi-audio",
        {
            "task_type": "understanding",
            "conversation": [
                {"role": "user", "message_type": "text", "content": "What is this?"},
                {"role": "user", "message_type": "audio", "content": "a.wav"},
                {"role": "assistant", "message_type": "text", "content": "A heron."},
            ],
        },
        [("user", "What is this?[audio a.wav]"), ANSWER],
    ),
]
