"""``python -m kbs``."""

from kbs.cli import main

main()
