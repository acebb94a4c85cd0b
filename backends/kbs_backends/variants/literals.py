"""Literals of Python and of CUDA C++: read, and written back in the style of the source."""

from __future__ import annotations

import ast
import re

from kbs_backends.variants.records import MarkError, Value
from kbs_engine.numerals import storable

_C_INT = re.compile(r"([-+]?)\s*(0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9][0-9']*)([uUlLzZ]*)\Z")
_MOST_DIGITS = 70
"""More than 64 bits have in any base."""
_C_FLOAT = re.compile(
    r"([-+]?\s*(?:[0-9][0-9']*\.[0-9']*|\.[0-9][0-9']*|[0-9][0-9']*(?=[eE]))(?:[eE][-+]?[0-9]+)?)"
    r"([fFlL]?)\Z"
)
_C_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_:]*\Z")
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_.:\-]*\Z")


def read_python(text: str) -> Value | None:
    """Return the int, float, str or bool that ``text`` spells, or None where it spells none."""
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, int | float | str) and storable(value) else None


def read_c(text: str) -> Value | None:
    """Return the number, bool or bare word that a C++ literal spells, or None."""
    text = text.strip()
    if text in {"true", "false"}:
        return text == "true"
    if match := _C_INT.match(text):
        digits = match[2].replace("'", "")
        octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit()
        if octal and set(digits) & set("89"):
            return None
        if len(digits) > _MOST_DIGITS:
            return None
        number = int(digits, 8 if octal else 0)
        return None if not storable(number) else -number if match[1] == "-" else number
    if match := _C_FLOAT.match(text):
        return float(match[1].replace("'", "").replace(" ", ""))
    return text if _C_WORD.match(text) else None


def read_listed(text: str) -> Value | None:
    """Return one value of a mark's list: a literal of either language, or a bare word."""
    text = text.strip()
    if text in {"True", "False", "true", "false"}:
        return text in {"True", "true"}
    value = read_python(text)
    if value is None:
        value = read_c(text)
    return text if value is None and _BARE.match(text) else value


def same_type(one: Value, other: Value) -> bool:
    """Return whether two values can stand for each other; an int may stand for a float."""
    if isinstance(one, bool) or isinstance(other, bool):
        return isinstance(one, bool) and isinstance(other, bool)
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and isinstance(other, str)
    return isinstance(other, float) or isinstance(one, int)


def spell_python(value: Value, old: str) -> str:
    """Write ``value`` in Python, with the quotes of ``old`` where both are strings."""
    if isinstance(value, str):
        spelled = repr(value)
        if old.startswith('"') and '"' not in value and "\\" not in spelled:
            return f'"{value}"'
        return spelled
    if isinstance(value, int) and not isinstance(value, bool) and _is_float(old):
        return repr(float(value))
    return repr(value)


def spell_c(value: Value, old: str) -> str:
    """Write ``value`` in C++, keeping the suffix of ``old``.

    Raises:
        MarkError: A string that is not one C++ name.
    """
    old = old.strip()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        if not _C_WORD.match(value):
            raise MarkError(f"{value!r} is not one C++ name", remedy="give a name or a number")
        return value
    if match := _C_FLOAT.match(old):
        return repr(float(value)) + match[2]
    match = _C_INT.match(old)
    return repr(value) + (match[3] if match else "")


def _is_float(text: str) -> bool:
    return isinstance(read_python(text), float)
