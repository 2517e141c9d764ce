"""``python -m lint_dataset`` is the command line."""

from lint_dataset.cli import main

main()
