"""Read the labels of `eval diagnose`, the map of launches to cases, and measured causes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, NoReturn

import msgspec

from kbs_engine.errors import InputError
from kbs_engine.evaluation.claims import Truth
from kbs_engine.inputs import read_regular_text
from kbs_engine.work import Work
from kbs_ingest import safe_yaml

MEASURED: Final = "measured"
_REMEDY: Final = "see docs/cli.md, kbs eval"
_AXES: Final = ("memory", "compute", "latency", "none")
_NUMBER: Final = re.compile(r"[0-9]{1,9}")
_ENTRY: Final = "a truth entry has `healthy: true`, or `cause:` with symptom ids and `axis:`"


class TruthFile(msgspec.Struct, frozen=True, kw_only=True):
    """Labels in file order, and entries that could not be resolved."""

    path: str
    entries: tuple[Truth, ...]
    skipped: dict[str, str] = {}
    """Key of an entry to why it takes no part."""

    def find(self, launch: int, names: tuple[str, ...], *, by_number: bool = True) -> Truth | None:
        """The label of a launch: by number, by a whole name, by the longest prefix of one."""
        numbered = [entry for entry in self.entries if by_number and entry.key == launch]
        if numbered:
            return numbered[0]
        fits = [
            entry
            for entry in self.entries
            if isinstance(entry.key, str) and any(name.startswith(entry.key) for name in names)
        ]
        return max(fits, key=lambda entry: len(str(entry.key))) if fits else None

    def skips(self, launch: int, names: tuple[str, ...]) -> bool:
        """Whether a launch belongs to an entry that takes no part."""
        return any(
            key == str(launch) or any(name.startswith(key) for name in names)
            for key in self.skipped
        )


def read_truth(
    path: Path, axes: Mapping[str, str], *, dominant: Mapping[str, str] | None = None
) -> TruthFile:
    """Read a truth file; InputError gives the line and the fix.

    Args:
        path: the YAML file.
        axes: axis of every symptom that the wiki knows.
        dominant: the measured cause by case name, for entries with ``cause: measured``.
    """
    document, lines = _load(path)
    return _Truths(str(path), lines, axes, dominant or {}).build(document)


class _Truths:
    """Turn the document into labels, with lines in every message."""

    def __init__(
        self,
        where: str,
        lines: safe_yaml.Lines,
        axes: Mapping[str, str],
        dominant: Mapping[str, str],
    ) -> None:
        self.where = where
        self.lines = lines
        self.axes = axes
        self.dominant = dominant
        self.skipped: dict[str, str] = {}

    def build(self, document: object) -> TruthFile:
        if not isinstance(document, dict) or not document:
            self._fail((), "a truth file is a mapping of kernel names or launch numbers")
        found = [self._entry(key, body) for key, body in document.items()]
        return TruthFile(
            path=self.where,
            entries=tuple(entry for entry in found if entry is not None),
            skipped=self.skipped,
        )

    def _entry(self, key: int | str, body: object) -> Truth | None:
        if isinstance(key, int) and key < 0:
            self._fail((key,), f"{key} is no launch number")
        if not isinstance(body, dict):
            self._fail((key,), f"{key}: {_ENTRY}")
        healthy = body.get("healthy", False)
        if not isinstance(healthy, bool):
            self._fail((key, "healthy"), f"{key}: healthy is {healthy!r}, not true or false")
        if body.get("excluded"):
            self.skipped[str(key)] = f"excluded: {body['excluded']}"
            return None
        cause, axis = self._cause(key, body, healthy=healthy)
        if cause is None:
            return None
        if healthy and cause and any(self.axes[name] != "none" for name in cause):
            self._fail((key, "cause"), f"{key} is called healthy and has a cause")
        if not healthy and not cause:
            self._fail((key,), f"{key} has neither a cause nor `healthy: true`; {_ENTRY}")
        return Truth(
            key=key,
            line=self.lines.get((key,), 1),
            healthy=healthy,
            cause=() if healthy else cause,
            axis=axis or tuple(dict.fromkeys(self.axes[name] for name in cause)),
            work=self._work(key, body.get("work")),
        )

    def _cause(
        self, key: int | str, body: dict[str | int, Any], *, healthy: bool
    ) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
        """Accepted causes (None: skipped) and axes (empty: those of the causes)."""
        if body.get("cause") != MEASURED:
            cause = self._names((key, "cause"), body.get("cause"), self.axes, "symptom")
            stated = body.get("axis")
            axis = self._names((key, "axis"), stated, dict.fromkeys(_AXES, ""), "axis")
            return cause, () if healthy else axis
        planted = self._names((key, "planted"), body.get("planted"), self.axes, "symptom")
        if not planted:
            self._fail((key, "cause"), f"{key}: `cause: measured` needs `planted: [ids]`")
        found = self.dominant.get(str(key))
        if found is None:
            self.skipped[str(key)] = "its cause is to be measured and no times name it (--times)"
            return None, ()
        if found not in planted:
            told = ", ".join(planted)
            self._fail((key, "planted"), f"{key}: the times name {found}, planted are {told}")
        return (found,), ()

    def _names(
        self, path: tuple[str | int, ...], value: object, known: Mapping[str, str], what: str
    ) -> tuple[str, ...]:
        listed = [value] if isinstance(value, str) else ([] if value is None else value)
        if not isinstance(listed, list):
            self._fail(path, f"{path[0]}: {path[-1]} is no list of {what} ids")
        for number, name in enumerate(listed):
            if not isinstance(name, str) or name not in known:
                close = get_close_matches(str(name), list(known), n=3)
                told = f"; near: {', '.join(close)}" if close else ""
                self._fail((*path, number), f"{path[0]}: {name!r} is no {what}{told}")
        return tuple(listed)

    def _work(self, key: int | str, value: object) -> Work | None:
        if value is None:
            return None
        try:
            return msgspec.convert(value, Work)
        except (msgspec.ValidationError, ValueError) as fault:
            self._fail((key, "work"), f"{key}: {fault}")

    def _fail(self, path: tuple[str | int, ...], message: str) -> NoReturn:
        while path and path not in self.lines:
            path = path[:-1]
        where = f"{self.where}:{self.lines.get(path, 1)}"
        raise InputError(message, where=where, remedy=_REMEDY)


class LaunchMap(msgspec.Struct, frozen=True, kw_only=True):
    """Case names of launches, for reports in which kernel names repeat."""

    everywhere: dict[int, str] = {}
    by_report: dict[str, dict[int, str]] = {}

    def case(self, report: Path, launch: int, *, alone: bool) -> str | None:
        """The case of a launch; ``alone`` when one report is read, whatever it is called."""
        names = self.by_report.get(_plain(report.name))
        if names is None and alone and len(self.by_report) == 1:
            names = next(iter(self.by_report.values()))
        if names is not None:
            return names.get(launch)
        return self.everywhere.get(launch)


def read_launches(path: Path) -> LaunchMap:
    """``{launch: case}``, ``{report: {launch: case}}``, or the launches.json of a recording."""
    document, lines = _load(path)
    if not isinstance(document, dict) or not document:
        raise InputError(
            "a launch map is a mapping of launch numbers to case names",
            where=f"{path}:1",
            remedy=_REMEDY,
        )
    reports = document.get("reports")
    if isinstance(reports, list):
        return LaunchMap(by_report=_recorded(reports, path, lines))
    if all(isinstance(body, dict) for body in document.values()):
        found = {
            _plain(str(name)): _numbers(body, path, lines, (name,))
            for name, body in document.items()
            if isinstance(body, dict)
        }
        return LaunchMap(by_report=found)
    return LaunchMap(everywhere=_numbers(document, path, lines, ()))


def _recorded(reports: list[Any], path: Path, lines: safe_yaml.Lines) -> dict[str, dict[int, str]]:
    found: dict[str, dict[int, str]] = {}
    for number, entry in enumerate(reports):
        here = ("reports", number)
        if not isinstance(entry, dict) or not isinstance(entry.get("report"), str):
            raise InputError(
                "an entry of reports has no report", where=_at(path, lines, here), remedy=_REMEDY
            )
        rows: dict[str | int, object] = {}
        for row in entry.get("launches") or []:
            if isinstance(row, dict) and isinstance(row.get("case"), str):
                rows[str(row.get("id", row.get("index")))] = row["case"]
        names = _numbers(rows, path, lines, here)
        for key in ("report", "csv"):
            if isinstance(entry.get(key), str):
                found[_plain(entry[key])] = names
    return found


def _numbers(
    body: Mapping[str | int, object],
    path: Path,
    lines: safe_yaml.Lines,
    here: tuple[str | int, ...],
) -> dict[int, str]:
    found: dict[int, str] = {}
    for key, name in body.items():
        number = int(key) if _NUMBER.fullmatch(str(key)) else None
        if number is None or not isinstance(name, str):
            raise InputError(
                f"{key!r}: {name!r} is no launch number with a case name",
                where=_at(path, lines, (*here, key)),
                remedy=_REMEDY,
            )
        found[number] = name
    return found


def read_dominant(path: Path) -> dict[str, str]:
    """Measured cause by case name: ``{case: cause}``, or ``cases: {case: {dominant: cause}}``."""
    document, lines = _load(path)
    cases = document.get("cases", document) if isinstance(document, dict) else None
    if not isinstance(cases, dict):
        raise InputError(
            "a times file is a mapping of case names", where=f"{path}:1", remedy=_REMEDY
        )
    found: dict[str, str] = {}
    for name, body in cases.items():
        cause = body.get("dominant") if isinstance(body, dict) else body
        if isinstance(cause, str):
            found[str(name)] = cause
        elif cause is not None:
            raise InputError(
                f"{name}: {cause!r} is no symptom id",
                where=_at(path, lines, (name,)),
                remedy=_REMEDY,
            )
    return found


def _plain(name: str) -> str:
    """The name of a report without its endings: ``a.raw.csv.gz`` and ``a.ncu-rep`` are ``a``."""
    return name.rpartition("/")[2].partition(".")[0]


def _at(path: Path, lines: safe_yaml.Lines, here: tuple[str | int, ...]) -> str:
    while here and here not in lines:
        here = here[:-1]
    return f"{path}:{lines.get(here, 1)}"


def _load(path: Path) -> tuple[object, safe_yaml.Lines]:
    try:
        text = read_regular_text(path, "utf-8-sig")
    except FileNotFoundError as fault:
        raise InputError("no such file", where=str(path), remedy="check the path") from fault
    except (OSError, UnicodeDecodeError) as fault:
        raise InputError(
            f"the file cannot be read: {fault}", where=str(path), remedy="save it as UTF-8"
        ) from fault
    return safe_yaml.load(text, str(path), error=InputError)
