"""A real example to try: a pronunciation-coaching dataset with clips, and the Gemma 3n processor to measure it with.

    python -m tests.example          # writes ./example

The processor is built from the published vocabulary of Gemma 3, for machines that do not reach the Hugging Face Hub.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests import coaching, tokenizers


def main() -> None:
    folder = Path("example")
    coaching.make(folder)
    link = folder / "gemma-3n"
    try:
        processor = tokenizers.gemma3n()
    except tokenizers.Unfetchable as problem:
        sys.exit(f"the processor could not be fetched: {problem}")
    link.unlink(missing_ok=True)
    link.symlink_to(processor, target_is_directory=True)
    print(f"{folder}/train.jsonl: {coaching.ROWS} rows; {link}: the processor", file=sys.stderr)


if __name__ == "__main__":
    main()
