"""Collected edits of one source."""

from __future__ import annotations

from kbs_backends.variants.records import Edit, apply_edits


class Draft:
    """Edits by byte offsets of the old text, done together at the end."""

    def __init__(self, text: str) -> None:
        """Start from ``text``."""
        self.text = text
        self.data = text.encode()
        self.edits: list[Edit] = []

    def __bool__(self) -> bool:
        """Whether anything is to be changed."""
        return bool(self.edits)

    def replace(self, span: tuple[int, int], text: str) -> None:
        """Put ``text`` in place of a span."""
        self.edits.append(Edit(span[0], span[1], text))

    def insert(self, at: int, text: str) -> None:
        """Put ``text`` at an offset."""
        self.edits.append(Edit(at, at, text))

    def done(self) -> str:
        """Return the new text."""
        return apply_edits(self.text, self.edits)


def edited_slice(data: bytes, span: tuple[int, int], edits: list[Edit]) -> str:
    """Return the text of ``span`` with the edits inside it done."""
    start, end = span
    shifted = [Edit(edit.start - start, edit.end - start, edit.text) for edit in edits]
    return apply_edits(data[start:end].decode(), shifted)
