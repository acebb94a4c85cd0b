"""Epochs in tables over the versions: a column, and what began each; nothing where there is one."""

from __future__ import annotations

from kbs_engine.reports.text import NOT_FOUND, bullets
from kbs_engine.run.state import Epoch, State, VersionEntry


def several(state: State) -> bool:
    """Whether times of more than one task may stand in one table."""
    return len(state.epochs) > 1


def epoch_header(state: State) -> tuple[str, ...]:
    """The header of the column."""
    return ("Epoch",) if several(state) else ()


def epoch_cell(state: State, number: int) -> tuple[str, ...]:
    """Its cell for a version."""
    if not several(state):
        return ()
    entry = state.version(number)
    return (str(entry.epoch) if entry else NOT_FOUND,)


def epochs_text(state: State) -> str:
    """What stands below such a table."""
    if not several(state):
        return ""
    told = "Times of different epochs are of different tasks: nothing is compared across them."
    return f"{told}\n\n{bullets(epoch_line(one) for one in state.epochs)}"


def epoch_line(epoch: Epoch) -> str:
    """``epoch 1 from v2: larger batches (M=16)``."""
    dims = ", ".join(f"{name}={value}" for name, value in epoch.settings.dims.items())
    told = f"epoch {epoch.number} from v{epoch.first_version}"
    return f"{told}{f': {epoch.reason}' if epoch.reason else ''}{f' ({dims})' if dims else ''}"


def holds(state: State, entry: VersionEntry, *methods: str) -> str:
    """The methods that came in with a version, or which one it is measured again."""
    again = state.measured_again(entry)
    if again is not None:
        return f"v{again} measured again"
    return ", ".join(methods or entry.methods) or "-"
