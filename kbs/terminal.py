"""What is printed, with the control characters of foreign text escaped: one place for all of it.

Names, notes and messages come from logs, reports and programs of others. A terminal obeys
escape codes wherever they stand, so none reaches it but those that this program makes itself.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, TextIO

import click

from kbs_engine.unseen import CONTROLS, UNSEEN

if TYPE_CHECKING:
    from rich.console import Console

_CONTROL: Final = re.compile(rf"\r(?!\n)|(?![\t\n\r])[{CONTROLS}]|[{UNSEEN}]")
"""All but tab and line end; also what turns the direction of text, or is not seen in it."""


def escaped(text: str) -> str:
    """Text with each control character as a backslash, u and its code, as in JSON."""
    return text if text.isascii() and text.isprintable() else _CONTROL.sub(_code, text)


def _code(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


class Escaping:
    """A text stream through which no control character passes; else the stream itself."""

    def __init__(self, stream: TextIO) -> None:
        """Keep the stream."""
        self.raw = stream

    def write(self, text: str) -> int:
        """Write ``text`` escaped; TypeError for bytes, as of any text stream."""
        self.raw.write(escaped(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write each of ``lines``."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        """Everything else is the stream's."""
        return getattr(self.raw, name)


def escape_output() -> None:
    """Let stdout and stderr pass no control character of what is printed from now on."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if not isinstance(stream, Escaping):
            setattr(sys, name, Escaping(stream))


def raw(stream: Any) -> Any:
    """The stream below: for codes that this program writes itself."""
    return stream.raw if isinstance(stream, Escaping) else stream


def styled(text: str, *, nl: bool = True, **style: Any) -> None:
    """``click.secho`` on stdout: its own codes pass, those in ``text`` do not."""
    click.secho(escaped(text), file=raw(sys.stdout), nl=nl, **style)


def redrawn(text: str) -> None:
    """Draw the line of progress on stderr anew; empty ``text`` clears it."""
    click.echo(f"\r\x1b[K{escaped(text)}", file=raw(sys.stderr), nl=False)


def make_console(*, stderr: bool = False, **options: Any) -> Console:
    """A console of rich whose text is escaped, and whose styles are its own."""
    from rich.console import Console
    from rich.segment import Segment

    class Escaped(Console):
        """A console that escapes the text of every segment, codes of its own left alone."""

        def render(self, *args: Any, **kwargs: Any) -> Iterable[Segment]:
            """The segments of anything printable, escaped."""
            for part in super().render(*args, **kwargs):
                yield part if part.control else part._replace(text=escaped(part.text))

    return Escaped(file=raw(sys.stderr if stderr else sys.stdout), highlight=False, **options)
