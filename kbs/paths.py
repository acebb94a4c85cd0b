"""Paths and addresses on the command line: what is empty names nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

EMPTY = "the name is empty: a variable that is not set?"


class PathType(click.Path):
    """A path as ``pathlib.Path``; an empty one is refused, which pathlib takes for this folder."""

    def __init__(self, **options: Any) -> None:
        """Take the options of ``click.Path``."""
        super().__init__(path_type=Path, **options)

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """The path or fail."""
        if isinstance(value, str) and not value.strip():
            self.fail(EMPTY, param, ctx)
        return super().convert(value, param, ctx)


class AddressType(click.ParamType):  # type: ignore[type-arg]  # generic in newer stubs only
    """A folder or a URL as text, never empty."""

    name = "address"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """The text or fail."""
        text = str(value)
        if not text.strip():
            self.fail(EMPTY, param, ctx)
        return text
