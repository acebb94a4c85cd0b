"""How the harness says no to one candidate: an exception inside, a reason code outside."""

from __future__ import annotations

from kbs_engine.refusals import reason


class Refusal(Exception):  # noqa: N818 - the word of the trade
    """This candidate is refused; the job goes on without it."""

    def __init__(self, code: str, detail: str = "") -> None:
        """``code`` is one of ``kbs_engine.refusals``; unknown codes are a bug here."""
        super().__init__(f"{code}: {detail}")
        self.code = reason(code).code
        self.detail = detail


def claimed(code: str, detail: str) -> Refusal:
    """A worker's own claim about its candidate; an unknown code is a forged one."""
    try:
        return Refusal(code, detail)
    except ValueError:
        return Refusal("forged_result", f"unknown code {code[:80]!r}")
