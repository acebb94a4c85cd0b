"""Read NAME.work.yaml: the work that each launch of a report must do."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import msgspec

from kbs_engine.errors import WorkError
from kbs_engine.inputs import read_regular_text
from kbs_engine.work import Work
from kbs_ingest import safe_yaml

if TYPE_CHECKING:
    from pathlib import Path

SUFFIX: Final = ".work.yaml"
_KEYS: Final = frozenset({"chip", "launches", "kernels"})
_REMEDY: Final = "see docs/readers.md, Work sidecars"


class WorkFile(msgspec.Struct, frozen=True, kw_only=True):
    """Work by launch id and by kernel name; a launch counts before a name."""

    chip: str | None = None
    launches: dict[int, Work] = {}
    kernels: dict[str, Work] = {}
    """Keys are whole kernel names or prefixes of them."""

    def for_launch(self, launch: int | None, name: str) -> Work | None:
        """The work of one launch: by its id, its whole name, or the longest prefix of it.

        None in place of an id that does not tell which launch it is.
        """
        if launch is not None and launch in self.launches:
            return self.launches[launch]
        prefixes = [key for key in self.kernels if name.startswith(key)]
        return self.kernels[max(prefixes, key=len)] if prefixes else None


def find_work_file(report: Path) -> Path | None:
    """The sidecar beside a report: ``a.work.yaml`` for ``a.ncu-rep`` and ``a.raw.csv``.

    The longest matching name wins, so that ``a.b.work.yaml`` is closer to ``a.b.ncu-rep``.
    """
    stem = report.name
    while "." in stem:
        stem = stem.rpartition(".")[0]
        candidate = report.with_name(stem + SUFFIX)
        if stem and candidate != report and candidate.is_file():
            return candidate
    return None


def read_work(path: Path) -> WorkFile:
    """Read a sidecar; WorkError gives the line and the fix."""
    try:
        text = read_regular_text(path, "utf-8-sig")
    except FileNotFoundError as fault:
        raise WorkError("no such file", where=str(path), remedy="check the path") from fault
    except (OSError, UnicodeDecodeError) as fault:
        raise WorkError(
            f"the sidecar cannot be read: {fault}", where=str(path), remedy="save it as UTF-8"
        ) from fault
    document, lines = safe_yaml.load(text, str(path), error=WorkError)
    return _Builder(str(path), lines).build(document)


class _Builder:
    """Turn the document into records, with lines in every message."""

    def __init__(self, where: str, lines: safe_yaml.Lines) -> None:
        self.where = where
        self.lines = lines

    def build(self, document: object) -> WorkFile:
        """Check the top level, then each entry."""
        if not isinstance(document, dict):
            raise self._error((), "a sidecar is a mapping of launches or kernels")
        for key in document:
            if key not in _KEYS:
                raise self._error((key,), f"{key!r} is not known; chip, launches, kernels are")
        chip = document.get("chip")
        if chip is not None and not isinstance(chip, str):
            raise self._error(("chip",), f"chip is {chip!r}, not a name")
        launches = self._entries(document, "launches")
        kernels = self._entries(document, "kernels")
        for key in launches:
            if not isinstance(key, int) or key < 0:
                raise self._error(("launches", key), f"{key!r} is not a launch id")
        return WorkFile(
            chip=chip,
            launches={key: work for key, work in launches.items() if isinstance(key, int)},
            kernels={str(key): work for key, work in kernels.items()},
        )

    def _entries(self, document: dict[str | int, object], name: str) -> dict[str | int, Work]:
        body = document.get(name)
        if body is None:
            return {}
        if not isinstance(body, dict):
            raise self._error((name,), f"{name} is not a mapping")
        return {key: self._work((name, key), value) for key, value in body.items()}

    def _work(self, path: tuple[str | int, ...], value: object) -> Work:
        if not isinstance(value, dict):
            raise self._error(path, f"{path[-1]} has no fields")
        for key, number in value.items():
            if isinstance(number, float) and not math.isfinite(number):
                raise self._error((*path, key), f"{key} is not a number")
        try:
            return msgspec.convert(value, Work)
        except (msgspec.ValidationError, ValueError) as fault:
            raise self._error(path, f"{path[-1]}: {fault}") from fault

    def _error(self, path: tuple[str | int, ...], message: str) -> WorkError:
        while path and path not in self.lines:
            path = path[:-1]
        where = f"{self.where}:{self.lines.get(path, 1)}"
        return WorkError(message, where=where, remedy=_REMEDY)
