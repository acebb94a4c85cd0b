"""The comments that say how a probe, or a block of code on a page, is compiled."""

import ast
import re
from typing import Any

_MARK = re.compile(r"^#\s*kbs:signature\s+(?P<call>.+)$", re.MULTILINE)
_OPTIONS = re.compile(r"^#\s*kbs:options\s+(?P<options>.+)$", re.MULTILINE)
_ARCHS = re.compile(r"^(?://|#)\s*kbs:arch\s+(?P<archs>.+)$", re.MULTILINE)
_ENVIRONMENT = re.compile(r"^#\s*kbs:env\s+(?P<pairs>.+)$", re.MULTILINE)


class MarkError(ValueError):
    """A source whose comment cannot be read."""


Mark = tuple[str, dict[str, Any], dict[str, Any]]
"""Kernel name, arguments and compile options."""


def marks_of(text: str) -> list[Mark]:
    """Return what each signature comment asks for; one kernel may be asked for several times."""
    options = _OPTIONS.search(text)
    extra = ast.parse(f"f({options['options']})", mode="eval").body if options else None
    found = [(*_call(mark["call"]), _keywords(extra)) for mark in _MARK.finditer(text)]
    if not found:
        msg = 'no comment of the form `# kbs:signature kernel(x="*fp32", BLOCK=1024)`'
        raise MarkError(msg)
    return found


def _call(written: str) -> tuple[str, dict[str, Any]]:
    call = ast.parse(written, mode="eval").body
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
        msg = f"{written!r} is not a call of a kernel"
        raise MarkError(msg)
    return call.func.id, _keywords(call)


def archs_of(text: str) -> list[str]:
    """Return the targets of a `kbs:arch` comment; empty when there is none."""
    found = _ARCHS.search(text)
    return re.split(r"[,\s]+", found["archs"].strip()) if found is not None else []


def _keywords(call: ast.expr | None) -> dict[str, Any]:
    keywords = call.keywords if isinstance(call, ast.Call) else []
    return {k.arg: ast.literal_eval(k.value) for k in keywords if k.arg is not None}


def environment_of(text: str) -> dict[str, str]:
    """Return the variables of a `# kbs:env NAME=value` comment, which switch compiler features."""
    found = _ENVIRONMENT.search(text)
    pairs = found["pairs"].split() if found is not None else []
    return dict(pair.split("=", 1) for pair in pairs)
