"""All Triton cases of the holdout."""

from __future__ import annotations

import holdout_maps
import holdout_matrix
import holdout_rows
from case import Case

CASES: list[Case] = sorted(
    [*holdout_matrix.CASES, *holdout_rows.CASES, *holdout_maps.CASES], key=lambda case: case.name
)
