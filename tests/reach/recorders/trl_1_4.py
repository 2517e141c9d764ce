"""TRL's SFTTrainer before 1.9, which keeps rows without labels: ``pip install trl==1.4.0``."""

from tests.reach.recorders.trl import record

__all__ = ["record"]
