"""The clips of a row where no processor is named: what is wrong with them whoever hears them."""

from __future__ import annotations

from lint_dataset.conversations import Conversation
from lint_dataset.faults import Fault
from lint_dataset.media import Library, parts_of
from lint_dataset.processors.audio import grouped, listen
from lint_dataset.processors.speech import speech_faults


def check(conversation: Conversation, folder: str, library: Library) -> list[Fault]:
    """Clips that are missing, unreadable, empty, cut off; transcripts too long for them. Addresses are left alone."""
    faults: list[Fault] = []
    clips = (found for found in parts_of(conversation) if found[1].kind == "audio")
    for number, (message, part) in enumerate(clips, start=1):
        faults += listen(part.source, folder, None, {"message": message, "clip": number}, library=library).faults
    faults += speech_faults(conversation, folder, library)
    return grouped(fault for fault in faults if fault.code != "A005")
