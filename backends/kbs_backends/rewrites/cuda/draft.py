"""Edits of a CUDA source, with the constants and helpers that a rewrite adds."""

from __future__ import annotations

from kbs_backends.rewrites.base import Rewritten
from kbs_backends.rewrites.cuda.view import View
from kbs_backends.rewrites.draft import Draft
from kbs_backends.variants.records import Edit

_PREFIX = "KBS_"


class CudaDraft(Draft):
    """Edits of one source; its switch, tunables and helpers stand below the includes."""

    def __init__(self, view: View, method: str) -> None:
        """Start from the text that ``view`` shows."""
        super().__init__(view.text)
        self.view = view
        self.method = method
        self.switch = _PREFIX + method.upper()
        self._lines: list[str] = []

    def tunable(self, name: str, current: int, values: tuple[int, ...]) -> str:
        """Add an integer tunable; return its name."""
        listed = ", ".join(map(str, sorted({current, *values})))
        self._lines.append(f"constexpr int {name} = {current};  // kbs:tunable {listed}")
        return name

    def either(self, on: str, off: str) -> None:
        """Add declarations or macros, of which the switch chooses one set."""
        self._lines += [f"#if {self.switch}", on.strip(), "#else", off.strip(), "#endif"]

    def line(self, text: str) -> None:
        """Add a declaration that both forms need."""
        self._lines.append(text.strip())

    def finish(self, what: str) -> Rewritten:
        """Add the switch and return the new source."""
        switch = f"#define {self.switch} 1  // kbs:method {self.method}"
        place = self._place()
        text = "\n".join(["", switch, *self._lines, ""])
        self.edits.insert(0, Edit(place, place, text))  # before a change at the same place
        return Rewritten(self.done(), what)

    def _place(self) -> int:
        """Below the includes that come before the first kernel and the first change."""
        first = min([kernel.node.start_byte for kernel in self.view.kernels], default=0)
        first = min([first, *(edit.start for edit in self.edits)])
        includes = [
            node.end_byte
            for node in self.view.tree.root.children
            if node.type == "preproc_include" and node.end_byte <= first
        ]
        if includes:
            return includes[-1]
        comments = self.view.tree.root.children
        place = 0
        for node in comments:
            if node.type != "comment":
                break
            place = node.end_byte + 1
        return min(place, len(self.data), first)
