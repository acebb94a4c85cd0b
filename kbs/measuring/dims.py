"""``--dims M=4096,N=4096``, ``--dims '{"M": 4096}'`` and ``--M=4096`` for every command."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click
import msgspec

from kbs_engine.decoding import decode_json
from kbs_engine.errors import UsageError
from kbs_engine.numerals import read_integer, shortened, storable

Dim = int | float | str | bool
F = TypeVar("F", bound=Callable[..., Any])

_NAME = re.compile(r"[A-Za-z_]\w*")
_FREE = re.compile(r"--(?P<name>[A-Za-z_]\w*)(=(?P<value>.*))?")

FREE_DIMS = {"ignore_unknown_options": True}
"""Context settings of a command that takes ``--M=4096``."""


def dims_options(function: F) -> F:
    """Options of a command on a task: ``dims`` (texts) and ``free`` (words such as ``--M=8``)."""
    option: Any = click.option(
        "--dims", multiple=True, help="Dims of the task: M=4096,N=4096 or JSON; --M=4096 works too."
    )
    free: Any = click.argument("free", nargs=-1, type=click.UNPROCESSED)
    return option(free(function))  # type: ignore[no-any-return]  # click keeps the function


def read_dims(dims: Sequence[str], free: Sequence[str] = ()) -> dict[str, Dim]:
    """The dims of a call; later ones of one name must agree.

    Raises:
        UsageError: a word that is no dim, or one dim with two values.
    """
    found: dict[str, Dim] = {}
    for text in dims:
        for name, value in _pairs(text).items():
            _add(found, name, value)
    words = list(free)
    while words:
        word = words.pop(0)
        match = _FREE.fullmatch(word)
        if match is None:
            raise UsageError(
                f"unexpected argument {word!r}", remedy="dims are written --M=4096 or --dims M=4096"
            )
        value = match["value"]
        if value is None:
            if not words or words[0].startswith("--"):
                raise UsageError(
                    f"no option or dim value: {word}",
                    remedy=f"write {word}=VALUE for a dim; --help lists the options",
                )
            value = words.pop(0)
        _add(found, match["name"], _value(value))
    return found


def _pairs(text: str) -> dict[str, Dim]:
    if text.lstrip().startswith("{"):
        try:
            return decode_json(text, dict[str, int | float | str | bool])
        except msgspec.MsgspecError as problem:
            raise UsageError(
                f"--dims is no JSON object of numbers, words and booleans: {problem}",
                remedy="write --dims '{\"M\": 4096}' or --dims M=4096",
            ) from problem
    found: dict[str, Dim] = {}
    for part in filter(None, (piece.strip() for piece in re.split(r"[,\s]+", text))):
        name, equals, value = part.partition("=")
        if not equals or not _NAME.fullmatch(name) or not value:
            raise UsageError(f"{part!r} is no dim", remedy="write --dims M=4096,N=4096")
        _add(found, name, _value(value))
    return found


def _add(found: dict[str, Dim], name: str, value: Dim) -> None:
    if not storable(value):
        raise UsageError(
            f"{name} is no size: {shortened(value)}",
            remedy="give a number of at most 64 bits, neither infinite nor nan",
        )
    if name in found and found[name] != value:
        raise UsageError(
            f"{name} is given as {found[name]} and as {value}", remedy="give each dim once"
        )
    found[name] = value


def _value(text: str) -> Dim:
    """An integer (with ``_`` allowed), a number, true, false, or a word.

    ``1e3`` is refused: a size would be a float, on which setup() fails late.
    """
    if re.fullmatch(r"[+-]?\d[\d_]*", text, re.ASCII):
        return read_integer(text)
    if text.lower() in {"true", "false"}:
        return text.lower() == "true"
    if not text.isascii():
        return text  # float() takes digits of other scripts
    try:
        number = float(text)
    except ValueError:
        return text
    if number.is_integer() and re.fullmatch(r"[+-]?\d+[eE][+]?\d+", text):
        raise UsageError(
            f"{text!r} could be a size or a number with a fraction",
            remedy=f"write {int(number)} for a size, {float(int(number))!r} for the other",
        )
    return number
