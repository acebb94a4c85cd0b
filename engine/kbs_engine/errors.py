"""Errors that a user can act on: one base, one handler, fixed exit codes.

KbsError                what, where, remedy; exit 2
├── UsageError          the call itself is wrong
├── InputError          a file that cannot be read as what it claims to be
│   ├── ReportError     a profiler report or export
│   ├── WorkError       a work sidecar
│   └── WikiError       a page, rule or table of the knowledge base
├── StoreError          the index in the home folder
├── MeasurementError    a job on a device that gave no usable answer
└── RefusedError        the answer is no; exit 1
"""

from __future__ import annotations

__all__ = [
    "InputError",
    "KbsError",
    "MeasurementError",
    "RefusedError",
    "ReportError",
    "StoreError",
    "UsageError",
    "WikiError",
    "WorkError",
]


class KbsError(Exception):
    """An expected failure, told as what happened, where, and what to do."""

    exit_code = 2

    def __init__(self, message: str, *, where: str = "", remedy: str = "") -> None:
        """Keep the three parts; ``where`` is ``path`` or ``path:line``."""
        super().__init__(message)
        self.message = message
        self.where = where
        self.remedy = remedy

    def __str__(self) -> str:
        """One line: ``where: message; remedy``."""
        line = f"{self.where}: {self.message}" if self.where else self.message
        return f"{line}; {self.remedy}" if self.remedy else line


class UsageError(KbsError):
    """The command or the call has wrong arguments."""


class InputError(KbsError):
    """A file that cannot be read as what it claims to be."""


class ReportError(InputError):
    """A profiler report or its export that cannot be read."""


class WorkError(InputError):
    """A work sidecar that cannot be read."""


class WikiError(InputError):
    """A page, rule or table of the knowledge base that breaks its format."""


class StoreError(KbsError):
    """The index in the home folder is missing, unwritable or of another version."""


class MeasurementError(KbsError):
    """A job on a device gave no usable answer."""


class RefusedError(KbsError):
    """The question was understood and the answer is no."""

    exit_code = 1
