"""The comments that say how a Triton probe is compiled."""

import ast
import re
from typing import Any

_MARK = re.compile(r"^#\s*kbs:signature\s+(?P<call>.+)$", re.MULTILINE)
_OPTIONS = re.compile(r"^#\s*kbs:options\s+(?P<options>.+)$", re.MULTILINE)
_ENVIRONMENT = re.compile(r"^#\s*kbs:env\s+(?P<pairs>.+)$", re.MULTILINE)


class MarkError(ValueError):
    """A probe whose comment cannot be read."""


def mark_of(text: str) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Return kernel name, arguments and compile options of the kbs comments."""
    found = _MARK.search(text)
    if found is None:
        msg = 'no comment of the form `# kbs:signature kernel(x="*fp32", BLOCK=1024)`'
        raise MarkError(msg)
    call = ast.parse(found["call"], mode="eval").body
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
        msg = f"{found['call']!r} is not a call of a kernel"
        raise MarkError(msg)
    options = _OPTIONS.search(text)
    extra = ast.parse(f"f({options['options']})", mode="eval").body if options else None
    return call.func.id, _keywords(call), _keywords(extra)


def _keywords(call: ast.expr | None) -> dict[str, Any]:
    keywords = call.keywords if isinstance(call, ast.Call) else []
    return {k.arg: ast.literal_eval(k.value) for k in keywords if k.arg is not None}


def environment_of(text: str) -> dict[str, str]:
    """Return the variables of a `# kbs:env NAME=value` comment, which switch compiler features."""
    found = _ENVIRONMENT.search(text)
    pairs = found["pairs"].split() if found is not None else []
    return dict(pair.split("=", 1) for pair in pairs)
