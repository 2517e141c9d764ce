"""NVIDIA cards with the memory that they really have.

A card has two figures. ``nvidia-smi`` shows all of it, part of which the driver keeps. What is left is what CUDA gives:
``torch.cuda.get_device_properties(0).total_memory``, the "total capacity" of PyTorch's out-of-memory messages. That is
what one process can have, context included, and so the budget. It differs by up to 200 MiB between drivers (newer ones
keep more); the table has the least that was found on Linux. On Windows the desktop takes its share of it as well.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lint_dataset.machines.machine import MIB, Machine

#: What the driver is taken to keep of a card whose figure of PyTorch was not found. No card of up to 48 GB keeps more.
_KEPT = 620

#: The figures of nvidia-smi for cards of one cloud.
_MODAL = "nvidia-smi: github.com/modal-labs/modal-client/pull/2797"
#: Programs print both figures, and their logs are public: "RTX 4080, 16376 MiB", "CUDA:0 (NVIDIA L4, 22563MiB)".
_LOGS = "both figures: printed in public logs"
_LOGS_TORCH = "PyTorch's: printed in public logs"
_SMI_ONLY = f"nvidia-smi: printed in public logs; PyTorch's not found, taken as {_KEPT} MiB less"


@dataclass(frozen=True)
class Card:
    """A row of the table: MiB as ``nvidia-smi`` and as PyTorch report them (None: not found)."""

    family: str
    #: The size in its name, in GB.
    size: int
    smi: int
    torch: int | None
    compute: tuple[int, int]
    source: str

    @property
    def name(self) -> str:
        """The family, with the size where the family comes in several."""
        return self.family if _FAMILIES.count(self.family) == 1 else f"{self.family}-{self.size}gb"


_VOLTA, _TURING, _AMPERE, _AMPERE_RTX = (7, 0), (7, 5), (8, 0), (8, 6)
_ADA, _HOPPER, _BLACKWELL, _BLACKWELL_RTX = (8, 9), (9, 0), (10, 0), (12, 0)

CARDS: tuple[Card, ...] = (
    Card("v100", 16, 16384, 16130, _VOLTA, _LOGS),
    Card("v100", 32, 32768, 32494, _VOLTA, _LOGS),
    Card("t4", 16, 15360, 14912, _TURING, f"{_MODAL}; PyTorch's: github.com/Zheng-Chong/CatVTON/issues/133"),
    Card("a10", 24, 23028, 22587, _AMPERE_RTX, f"{_MODAL}; PyTorch's: that of the A10G"),
    Card("a10g", 24, 23028, 22587, _AMPERE_RTX, _LOGS),
    Card("a40", 48, 46068, None, _AMPERE_RTX, _SMI_ONLY),
    Card("a100", 40, 40960, 40441, _AMPERE, f"{_MODAL}; {_LOGS_TORCH}"),
    Card("a100", 80, 81920, 81038, _AMPERE, f"{_MODAL}; {_LOGS_TORCH}"),
    Card("l4", 24, 23034, 22563, _ADA, f"{_MODAL}; {_LOGS_TORCH}"),
    Card("l40", 48, 46068, 45495, _ADA, "nvidia-smi: printed in public logs; PyTorch's: that of the L40S"),
    Card("l40s", 48, 46068, 45495, _ADA, f"{_MODAL}; {_LOGS_TORCH}"),
    Card("h100", 80, 81559, 81082, _HOPPER, f"{_MODAL}; {_LOGS_TORCH}"),
    Card("h100-nvl", 94, 95830, 95320, _HOPPER, _LOGS),
    Card("h200", 141, 143771, 143156, _HOPPER, _LOGS),
    Card("b200", 180, 183359, 182630, _BLACKWELL, "both: printed in public logs and github.com/pytorch/ao/pull/4002"),
    Card("rtx-2080-ti", 11, 11264, 11012, _TURING, _LOGS),
    Card("rtx-3060", 12, 12288, 11910, _AMPERE_RTX, _LOGS),
    Card("rtx-3070", 8, 8192, 7842, _AMPERE_RTX, _LOGS),
    Card("rtx-3080", 10, 10240, 10002, _AMPERE_RTX, _LOGS),
    Card("rtx-3090", 24, 24576, 24124, _AMPERE_RTX, _LOGS),
    Card("rtx-4060", 8, 8188, None, _ADA, _SMI_ONLY),
    Card("rtx-4060-ti", 8, 8188, 7806, _ADA, _LOGS),
    Card("rtx-4060-ti", 16, 16380, None, _ADA, _SMI_ONLY),
    Card("rtx-4070", 12, 12282, 11994, _ADA, _LOGS),
    Card("rtx-4070-ti", 12, 12282, 11980, _ADA, "github.com/Kwai-Kolors/Kolors/issues/11"),
    Card("rtx-4070-ti-super", 16, 16376, 15934, _ADA, _LOGS),
    Card("rtx-4080", 16, 16376, None, _ADA, _SMI_ONLY),
    Card("rtx-4090", 24, 24564, 24081, _ADA, "github.com/RLinf/RLinf/issues/255; " + _LOGS_TORCH),
    Card("rtx-5060-ti", 16, 16311, 15841, _BLACKWELL_RTX, _LOGS),
    Card("rtx-5070", 12, 12227, None, _BLACKWELL_RTX, _SMI_ONLY),
    Card("rtx-5070-ti", 16, 16303, None, _BLACKWELL_RTX, _SMI_ONLY),
    Card("rtx-5080", 16, 16303, None, _BLACKWELL_RTX, _SMI_ONLY),
    Card("rtx-5090", 32, 32607, 32102, _BLACKWELL_RTX, _LOGS),
    Card("a4000", 16, 16376, 16117, _AMPERE_RTX, _LOGS),
    Card("a5000", 24, 24564, 24248, _AMPERE_RTX, _LOGS),
    Card("a6000", 48, 49140, 48670, _AMPERE_RTX, "github.com/ultralytics/ultralytics/issues/19084; nvidia-smi: logs"),
    Card("rtx-6000-ada", 48, 49140, 48520, _ADA, _LOGS),
    Card("rtx-pro-6000", 96, 97887, 97250, _BLACKWELL_RTX, _LOGS),
)

_FAMILIES = [card.family for card in CARDS]


def find(name: str) -> Machine | None:
    """The card of that name: letter case, spaces, hyphens, ``NVIDIA``, ``RTX`` and the like do not matter."""
    wanted = _plain(name)
    for card in CARDS:
        family = _plain(card.family)
        spellings = {_plain(card.name), f"{family}{card.size}", f"{family}{card.size}gb"}
        if wanted in spellings:
            return machine(card)
    return None


def titled(title: str, total: int) -> Card | None:
    """The card that ``nvidia-smi`` gives that title and so many MiB, or None.

    Laptop cards go by the names of larger ones, so the memory has to agree.
    """
    family = _plain(re.sub(r"\b\d+ ?gb\b", "", title.casefold()))
    for card in CARDS:
        if _plain(card.family) == family and abs(total - card.smi) < 0.04 * card.smi:
            return card
    return None


def machine(card: Card) -> Machine:
    """What the card has."""
    given = card.torch or card.smi - _KEPT
    return Machine(
        name=card.name,
        title=f"NVIDIA {card.name.upper()}",
        kind="cuda",
        total=card.smi * MIB,
        memory=given * MIB,
        compute=card.compute,
        source=card.source,
        said=f"{card.smi:,} MiB, of which a process gets {given:,}",
    )


#: Words in the titles of cards that do not tell one from another.
_NOISE = re.compile(
    r"nvidia|geforce|tesla|quadro|rtx|sxm\d?|pcie|hbm\w*|generation|blackwell|workstation|server|edition|gpu|max-q"
)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", _NOISE.sub("", name.casefold()))
