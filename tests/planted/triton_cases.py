"""All planted Triton cases. Importing this needs no GPU; preparing a case does."""

from __future__ import annotations

import triton_maps
import triton_matrix
import triton_pairs
import triton_rows

CASES = sorted(
    [*triton_rows.CASES, *triton_matrix.CASES, *triton_maps.CASES, *triton_pairs.CASES],
    key=lambda case: case.name,
)
