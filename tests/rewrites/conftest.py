"""Of long lists of examples `make test` runs every third; `make sweep` runs the others."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

HERE = Path(__file__).parent
LONG, EVERY = 12, 3


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is left out as part of the sweep, before anything is chosen by marks."""
    lists: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if HERE in item.path.parents and hasattr(item, "callspec"):
            lists[f"{item.path}::{item.originalname}"].append(item)  # type: ignore[attr-defined]
    for rows in lists.values():
        if len(rows) >= LONG:
            for place, item in enumerate(rows):
                if place % EVERY:
                    item.add_marker(pytest.mark.sweep)
