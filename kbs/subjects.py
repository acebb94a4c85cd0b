"""From report files and options to the launches that a command speaks of."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from kbs.paths import PathType
from kbs.sidecars import sidecar_of, with_work
from kbs_engine.days import FORM, day_fault
from kbs_engine.diagnose import Subject
from kbs_engine.errors import RefusedError, UsageError
from kbs_engine.vocabulary import DTYPES, FAMILIES, LANGUAGE_ALIASES, LANGUAGES
from kbs_engine.work import Work

if TYPE_CHECKING:
    from kbs_ingest.store import Store


class LanguageType(click.ParamType):  # type: ignore[type-arg]  # generic in newer stubs only
    """A language id or one of its aliases."""

    name = "language"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """Return the canonical id or fail with the list."""
        text = str(value).casefold()
        found = LANGUAGE_ALIASES.get(text, text)
        if found not in LANGUAGES:
            self.fail(f"{value!r} is none of {', '.join(LANGUAGES)}", param, ctx)
        return found


class DayType(click.ParamType):  # type: ignore[type-arg]  # generic in newer stubs only
    """A calendar date of ISO 8601, such as 2026-01-31; one yet to come only with ``future``.

    With ``measured`` it is a day on which a kernel was measured.
    """

    name = "date"

    def __init__(self, *, future: bool = False, measured: bool = False) -> None:
        """Keep whether a day yet to come is one, and whether one before GPUs is none."""
        self.future = future
        self.measured = measured

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """The date as it was told or fail with its form."""
        text = str(value)
        fault = day_fault(text, future=self.future, measured=self.measured)
        if fault:
            self.fail(f"{value!r} {fault}; {FORM}", param, ctx)
        return text


class FiniteRange(click.FloatRange):
    """A number from 0 on; ``nan`` and ``inf`` are no work and no time."""

    name = "number"

    def __init__(self, *, above_zero: bool = False) -> None:
        """From 0 on, or above 0."""
        super().__init__(min=0, min_open=above_zero)

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """Return a finite number or fail."""
        if isinstance(value, str) and not value.isascii():
            self.fail(f"{value!r} is no number in digits 0 to 9", param, ctx)
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number", param, ctx)
        return number


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """Options that pick launches and say what is known about them."""

    work: Path | None = None
    chip: str | None = None
    language: str | None = None
    launches: tuple[int, ...] = ()
    name: str | None = None
    override: Work | None = None


def selection_options(function: Any) -> Any:
    """The options that every command on a profile has."""
    for option in reversed(
        (
            click.option(
                "--work",
                type=PathType(),
                help="Work sidecar. Default: NAME.work.yaml beside the report.",
            ),
            click.option("--chip", help="GPU id or alias, when the report does not tell."),
            click.option(
                "--language",
                "--implementation",
                "--backend",
                type=LanguageType(),
                help="Language of the kernel, for example triton.",
            ),
            click.option(
                "--launch", "launches", type=int, multiple=True, help="Only this launch id."
            ),
            click.option("--name", help="Only kernels whose name matches this pattern."),
            click.option("--flops", type=FiniteRange(), help="Known FLOPs of the task."),
            click.option("--bytes-in", type=FiniteRange(), help="Compulsory bytes in."),
            click.option("--bytes-out", type=FiniteRange(), help="Compulsory bytes out."),
            click.option("--dtype", type=click.Choice(DTYPES), help="Data type of the task."),
            click.option(
                "--permitted",
                type=click.Choice(DTYPES),
                multiple=True,
                help="Precision in which the task permits its arithmetic. Repeatable.",
            ),
            click.option(
                "--kernel",
                "family",
                type=click.Choice(FAMILIES),
                help="Kernel family of the task.",
            ),
        )
    ):
        function = option(function)
    return function


def selection_of(options: dict[str, Any]) -> Selection:
    """Take the selection options out of a command's keyword arguments."""
    names = ("flops", "bytes_in", "bytes_out", "dtype", "permitted", "family")
    task = {name: options.pop(name) for name in names}
    override = None
    if any(value not in (None, ()) for value in task.values()):
        override = Work(
            kernel=task["family"] or "other",
            dtype=task["dtype"],
            permitted=tuple(task["permitted"]),
            flops=task["flops"],
            bytes_in=task["bytes_in"],
            bytes_out=task["bytes_out"],
        )
    fields = {name: options.pop(name) for name in ("work", "chip", "language", "launches", "name")}
    return Selection(**fields, override=override)


def read_subjects(paths: Sequence[Path], selection: Selection, store: Store) -> list[Subject]:
    """Read reports and their sidecars into subjects; UsageError when nothing is selected."""
    from kbs_ingest.readers import read_report, report_vendor

    subjects: list[Subject] = []
    seen: list[str] = []
    for path in paths:
        vendor = report_vendor(path)
        report = read_report(path, store.metric_map(vendor))
        sidecar = sidecar_of(path, selection.work)
        sidecar_chip = sidecar.chip if sidecar else None
        if selection.chip:
            _refuse_vendor(selection.chip, vendor, path, store, "leave --chip out")
        else:
            _refuse_vendor(sidecar_chip, vendor, path, store, "correct chip: in the work sidecar")
        for profile, work in with_work(report, sidecar, path):
            seen.append(f"{profile.launch}: {profile.name}")
            if not _selected(profile.launch, profile.name, selection):
                continue
            subjects.append(
                Subject(
                    profile=profile,
                    work=_merge(work, selection.override),
                    chip_name=selection.chip,
                    sidecar_chip=sidecar_chip,
                    language=selection.language,
                )
            )
    if not subjects:
        raise UsageError(
            "no launch matches --launch/--name",
            where=", ".join(map(str, paths)),
            remedy=f"the report holds {'; '.join(seen[:10])}",
        )
    return subjects


def _refuse_vendor(name: str | None, vendor: str, path: Path, store: Store, remedy: str) -> None:
    """UsageError when the chip named beside a report is of another vendor than its tool."""
    if not name:
        return
    try:
        chip = store.chip(name)
    except RefusedError:  # an unknown chip is told where its specs are needed
        return
    if chip.vendor != vendor:
        raise UsageError(
            f"{chip.name} is of {chip.vendor}, the report is of a GPU of {vendor}",
            where=str(path),
            remedy=f"{remedy}, or name the GPU of which the report is",
        )


def _selected(launch: int, name: str, selection: Selection) -> bool:
    if selection.launches and launch not in selection.launches:
        return False
    if selection.name is None:
        return True
    try:
        return re.search(selection.name, name) is not None
    except re.error as error:
        raise UsageError(
            f"--name is no regular expression: {error}", remedy="escape ( ) [ ] * + ?"
        ) from error


def _merge(work: Work | None, override: Work | None) -> Work | None:
    """Options win over the sidecar, field by field."""
    if override is None or work is None:
        return override or work
    given = {
        name: getattr(override, name)
        for name in ("dtype", "permitted", "flops", "bytes_in", "bytes_out")
        if getattr(override, name) not in (None, ())
    }
    if override.dtype is not None and not override.permitted:
        given["permitted"] = (override.dtype,)
    if override.kernel != "other":
        given["kernel"] = override.kernel
    return msgspec.structs.replace(work, **given)
