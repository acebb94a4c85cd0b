"""Edits of a Triton source, with the constants that a rewrite adds."""

from __future__ import annotations

import libcst as cst

from kbs_backends.rewrites.base import Rewritten
from kbs_backends.rewrites.draft import Draft
from kbs_backends.rewrites.triton.view import View
from kbs_backends.variants.records import Edit

_PREFIX = "KBS_"


def switch_name(method: str) -> str:
    """Name of the constant that turns a method on."""
    return _PREFIX + method.upper()


class TritonDraft(Draft):
    """Edits of one source; switches and tunables stand below its imports."""

    def __init__(self, view: View, method: str) -> None:
        """Start from the text that ``view`` shows."""
        super().__init__(view.text)
        self.view = view
        self.method = method
        self.switch = switch_name(method)
        self._lines: list[str] = []
        self._helpers: list[str] = []

    def tunable(
        self, name: str, current: object, values: tuple[object, ...], *, host: bool = False
    ) -> str:
        """Add a tunable and return its name.

        ``host``: only launches read it, so that it is a plain constant; kernels may read none
        but ``tl.constexpr``.
        """
        listed = ", ".join(map(repr, values))
        value = repr(current) if host else f"{self.view.tl}.constexpr({current!r})"
        self._lines.append(f"{name} = {value}  # kbs:tunable {listed}")
        return name

    def helper(self, definition: str) -> None:
        """Add a host function below the constants."""
        self._helpers += ["", "", *definition.strip().split("\n")]

    def below(self, definition: str, after: int) -> None:
        """Add a function or kernel below the byte offset ``after``."""
        self.insert(after, f"\n\n{definition.strip()}\n")

    def finish(self, what: str, *, host: bool = False) -> Rewritten:
        """Add the switch and return the new source; ``host`` as for ``tunable``."""
        value = "True" if host else f"{self.view.tl}.constexpr(True)"
        switch = f"{self.switch} = {value}  # kbs:method {self.method}"
        text = "\n".join(["", switch, *self._lines, *self._helpers, ""])
        place = self._place()
        self.edits.insert(0, Edit(place, place, text))  # before a decorator at the same place
        return Rewritten(self.done(), what)

    def _place(self) -> int:
        """Below the imports, and below the constants of rewrites before this one."""
        place = 0
        for statement in self.view.tree.module.body:
            if not isinstance(statement, cst.SimpleStatementLine):
                if not isinstance(statement, cst.Try | cst.If):
                    break
                continue
            small = statement.body[0]
            own = isinstance(small, cst.Assign) and self.view.code(small).startswith(_PREFIX)
            if own or isinstance(small, cst.Import | cst.ImportFrom):
                place = self.view.line_end(statement)
        return place
