"""Why one method stands where it stands, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbs.render.text import show_method

if TYPE_CHECKING:
    from rich.console import Console

    from kbs_engine.explain import Addressed, Explanation
    from kbs_engine.recommendations import KernelDiagnosis


def show_explanation(console: Console, item: KernelDiagnosis, found: Explanation) -> None:
    """The standing of a method for one launch, its score in parts, and what it treats."""
    console.print(f"{item.name} launch {item.launch}: {found.method}, {found.title}", markup=False)
    console.print(f"  {found.standing}: {found.reason}", style="bold", markup=False)
    if found.score is not None:
        show_method(console, found.rank or 0, found.score, verbose=True)
    console.print("  It treats", markup=False)
    for row in found.addresses:
        console.print(f"    {_addressed(row)}", markup=False)
    for warning in found.anti_strategies:
        console.print(f"  do not: {warning.because} ({warning.id})", markup=False)
        console.print(f"      <- {warning.citation}", style="dim", markup=False)


def _addressed(row: Addressed) -> str:
    if row.recoverable is None:
        return f"{row.symptom} (weight {row.weight:.2f}): {row.found}"
    return (
        f"{row.symptom} (weight {row.weight:.2f}): found as {row.found}, "
        f"{row.recoverable:.0%} of the time recoverable"
    )
