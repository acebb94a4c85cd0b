"""A proposer that gives one authored source: ``python -m tests.loop.gpu.authored FILE METHOD…``.

It reads the request from stdin and claims those of the methods that the plan has.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(file: str, *methods: str) -> None:
    """Print the answer."""
    request = json.load(sys.stdin)
    planned = [row["method"] for row in request["file"]["plan"]["methods"]]
    mine = [method for method in planned if method in methods]
    text = (Path(__file__).parent / file).read_text(encoding="utf-8")
    candidate = {"text": text, "name": Path(file).name, "methods": mine or planned[:1]}
    print(json.dumps({"candidates": [candidate]}))


if __name__ == "__main__":
    main(*sys.argv[1:])
