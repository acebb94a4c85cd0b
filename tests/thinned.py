"""Long lists of examples, in part: `make test` runs some of them, `make sweep` the rest too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def thinned(rows: Iterable[Any], every: int = 3) -> list[Any]:
    """Every ``every``-th row as it is; the others are marked as part of the sweep."""
    kept = []
    for number, row in enumerate(rows):
        if number % every == 0:
            kept.append(row)
        else:
            values = row if isinstance(row, tuple) else (row,)
            kept.append(pytest.param(*values, marks=pytest.mark.sweep))
    return kept
