"""What is known of one machine."""

from __future__ import annotations

from dataclasses import dataclass

MIB, GIB = 2**20, 2**30


@dataclass(frozen=True)
class Machine:
    """A machine that trains, with its real memory.

    ``kind`` is the device that PyTorch calls it, ``total`` what the machine reports to have and ``memory`` what one
    process can have of it, in bytes. A ``shared`` memory is the system's too. ``compute`` is the compute capability of
    an NVIDIA card, None where it is not known. ``source`` says where the figures are from, ``said`` what to show of
    them.
    """

    name: str
    title: str
    kind: str
    total: int
    memory: int
    compute: tuple[int, int] | None
    source: str
    said: str

    @property
    def shared(self) -> bool:
        """Whether the system needs some of the memory too."""
        return self.kind == "mps"

    @property
    def budget(self) -> int:
        """What training may use: all that a card gives, three quarters of a memory that is shared."""
        return self.memory * 3 // 4 if self.shared else self.memory
