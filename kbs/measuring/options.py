"""Options of every command that measures a kernel against a reference."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from kbs.measuring.dims import dims_options, read_dims
from kbs.paths import PathType
from kbs.subjects import FiniteRange, LanguageType
from kbs_engine.errors import UsageError
from kbs_engine.jobs import TimingSettings
from kbs_engine.vocabulary import DTYPES

F = TypeVar("F", bound=Callable[..., Any])
FILE = PathType(exists=True, dir_okay=False)
FOLDER = PathType(file_okay=False)


class LanguageOrAuto(LanguageType):
    """A language, an alias, or ``auto`` (read from the file)."""

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """``auto`` stays; the rest as in every command."""
        return "auto" if str(value).casefold() == "auto" else super().convert(value, param, ctx)


class TaskOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the options say of a task."""

    reference: Path
    dims: dict[str, int | float | str | bool]
    language: str
    setup: Path | None = None
    outputs: tuple[str, ...] = ()
    ptr_size: int | None = None
    atol: float | None = None
    rtol: float | None = None
    permitted: tuple[str, ...] = ()


class DeviceOptions(msgspec.Struct, frozen=True, kw_only=True):
    """On what to measure."""

    device: str
    gpu: int
    arch: str
    record: Path | None = None


def task_options(function: F) -> F:
    """Reference, dims (also ``--M=4096``), language, tolerance and outputs."""
    wrapped: Any = dims_options(function)
    for option in reversed(
        (
            click.option("--ref", "reference", type=FILE, required=True,
                         help="Reference: ref.py, or a KernelBench problem."),
            click.option("--language", "--implementation", "--backend", type=LanguageOrAuto(),
                         default="auto", show_default=True,
                         help="Language of the kernel; auto reads the file."),
            click.option("--setup", type=FILE,
                         help="Kernel whose setup() gives the inputs where the reference has "
                         "none. Default: the kernel itself, with a warning."),
            click.option("--outputs", multiple=True,
                         help="Names of the outputs where nothing else tells them."),
            click.option("--ptr-size", type=click.IntRange(min=1),
                         help="Elements of each pointer where neither setup() nor dims say it."),
            click.option("--atol", type=FiniteRange(),
                         help="Absolute tolerance. Default: the reference's, else derived."),
            click.option("--rtol", type=FiniteRange(), help="Relative tolerance."),
            click.option("--permit", "permitted", multiple=True, type=click.Choice(DTYPES),
                         help="Precision in which the arithmetic may be done. Repeatable."),
        )
    ):  # fmt: skip
        wrapped = option(wrapped)
    return wrapped  # type: ignore[no-any-return]  # click's decorators keep the function


def device_options(function: F) -> F:
    """Device, GPU, architecture, and whether to record."""
    wrapped: Any = function
    for option in reversed(
        (
            click.option("--device", default="auto", show_default=True,
                         help="auto, cuda, cuda:1, host (a dry run on the CPU), recorded:DIR."),
            click.option("--gpu", type=click.IntRange(min=0), show_default="0",
                         help="Index of the GPU, with auto or cuda."),
            click.option("--arch", default="",
                         help="Compile .cu files for this. Default: the GPU's own, as sm_90a."),
            click.option("--record", type=FOLDER,
                         help="Write jobs and answers here, for --device recorded:DIR."),
        )
    ):  # fmt: skip
        wrapped = option(wrapped)
    return wrapped  # type: ignore[no-any-return]  # click's decorators keep the function


def take_task(options: dict[str, Any]) -> TaskOptions:
    """The task options out of a command's keyword arguments."""
    dims = read_dims(options.pop("dims"), options.pop("free"))
    outputs = tuple(
        name for text in options.pop("outputs") for name in text.replace(",", " ").split()
    )
    names = ("reference", "language", "setup", "ptr_size", "atol", "rtol", "permitted")
    taken = {name: options.pop(name) for name in names}
    return TaskOptions(dims=dims, outputs=outputs, **taken)


def timing_settings(option: str, **fields: Any) -> TimingSettings:
    """How calls are timed; UsageError with the least number where too few calls are asked for."""
    try:
        return TimingSettings(**fields)
    except ValueError as problem:
        raise UsageError(
            str(problem), where=option, remedy="give more trials, or discard fewer"
        ) from problem


def take_device(options: dict[str, Any]) -> DeviceOptions:
    """The device options out of a command's keyword arguments."""
    require_one_device(options["device"], options["gpu"])
    taken = {name: options.pop(name) for name in ("device", "gpu", "arch", "record")}
    return DeviceOptions(**{**taken, "gpu": taken["gpu"] or 0})


def require_one_device(device: str, gpu: int | None) -> None:
    """UsageError where --gpu is given for a device that is no GPU, or another one."""
    if gpu is not None and device not in ("auto", "cuda", f"cuda:{gpu}"):
        raise UsageError(
            f"--gpu {gpu} and --device {device} name two devices",
            where="--gpu",
            remedy=f"leave one of the two out, or say --device cuda:{gpu}",
        )
