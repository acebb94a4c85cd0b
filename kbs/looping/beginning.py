"""From files and options to a run folder in which the loop can begin."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import msgspec

from kbs import __version__
from kbs.looping.programs import require_program
from kbs.looping.sources import described, require_marks
from kbs.measuring.options import TaskOptions
from kbs.measuring.subject import read_subject, read_text
from kbs_engine.blobs import BlobStore
from kbs_engine.errors import UsageError
from kbs_engine.jobs import TimingSettings
from kbs_engine.loop.actions import Begin
from kbs_engine.loop.retelling import BEGUN
from kbs_engine.run import RunFolder
from kbs_engine.run.records import Epoch, Placeholder, Settings, State, Target
from kbs_engine.units import SPEC_UNITS

_UNITS = {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a run is begun with, besides its kernel and its task."""

    output: Path | None = None
    home: Path | None = None
    device: str = "auto"
    iterations: int = 3
    branches: int = 4
    slots: int = 3
    noise_pct: float = 2.0
    retries: int = 3
    ncu_num: int = 5
    check_rounds: int = 10
    process_pairs: int = 3
    timing: TimingSettings = TimingSettings()
    seed_policy: str = "secret"
    attribution: str = "loo"
    proof: str = "together"
    """``together``, or ``apart``: a champion is proven before its ablations are timed."""
    baselines: tuple[str, ...] = ("pytorch-eager",)
    proposer: str = "builtin"
    """``builtin``, ``agent``, or a command."""
    proposer_timeout_s: float = 600.0
    external_benchmark: str = ""
    gpu_seconds: float | None = None
    target: str = ""
    platform: str = ""
    placeholders: tuple[str, ...] = ()
    counters: bool = True
    templates: bool = True
    knowledge: bool = True
    notes: str = ""
    created_at: str = ""
    """When the run began (ISO 8601, UTC); empty is now."""


def begin(kernel: Path, task: TaskOptions, options: RunOptions) -> RunFolder:
    """Make the run folder of a kernel, open for writing.

    Raises:
        InputError: A file that cannot be read, whose language nothing tells, or with a mark
            that cannot be meant.
        UsageError: Options that make no sense, a program that is not there, or a folder that
            is taken.
    """
    _require_programs(options)
    created = options.created_at or datetime.now(timezone.utc).isoformat(timespec="seconds")
    root = options.output or default_root(kernel, created)
    text, reference = read_text(kernel), read_text(task.reference)
    with_blobs = BlobStore(root / ".kbs" / "blobs")
    subject = read_subject(kernel, task, _Dry(with_blobs.folder))
    require_marks(text, subject.source.language, str(kernel))
    settings = make_settings(kernel, subject.source.language, task, options)
    state = State(
        run_id=root.name,
        name=kernel.stem,
        created_at=created,
        kbs_version=__version__,
        settings=settings,
        epochs=(Epoch(number=0, first_version=0, settings=settings, began_at=created),),
        reference_sha256=subject.task.reference_sha256,
        baseline_sha256=subject.source.sha256,
        baseline_file=kernel.name,
    )
    run = RunFolder.create(root, state, reference=reference, baseline=text, home=options.home)
    with contextlib.ExitStack() as undo:
        undo.callback(run.close)  # after Ctrl-C too the lock must not stay
        source = msgspec.structs.replace(subject.source, name=settings.kernel_file)
        run.journal.append(
            BEGUN,
            begin=Begin(
                run_id=root.name,
                created_at=created,
                name=kernel.stem,
                kbs_version=__version__,
                baseline=described(source, text, run.blobs),
                reference_sha256=subject.task.reference_sha256,
                settings=settings,
            ),
        )
        undo.pop_all()
    return run


def _require_programs(options: RunOptions) -> None:
    """UsageError for a program that is not there; a replay calls none."""
    if options.device.startswith("recorded:"):
        return
    if options.proposer not in ("builtin", "agent"):
        require_program(options.proposer, "--proposer")
    if options.external_benchmark:
        require_program(options.external_benchmark, "--benchmark")


class _Dry(BlobStore):
    """Hashes without storing: the run folder does not stand yet."""

    def put(self, data: bytes | str) -> str:
        """The hash alone."""
        from kbs_engine.run.files import sha256_of

        return sha256_of(data)


def default_root(kernel: Path, created: str) -> Path:
    """``run_YYYYMMDD_HHMMSS`` beside the kernel."""
    moment = datetime.fromisoformat(created)
    return kernel.resolve().parent / f"run_{moment:%Y%m%d_%H%M%S}"


def make_settings(kernel: Path, language: str, task: TaskOptions, options: RunOptions) -> Settings:
    """The settings of a run from its options; UsageError says which one makes no sense."""
    known = options.proposer in ("builtin", "agent")
    plain: dict[str, Any] = {
        "language": language,
        "dims": task.dims,
        "kernel_suffix": kernel.suffix,
        "atol": task.atol,
        "rtol": task.rtol,
        "tolerance_from": "command line" if task.atol is not None or task.rtol is not None else "",
        "seed_policy": options.seed_policy,
        "check_rounds": options.check_rounds,
        "outputs": task.outputs,
        "permitted": task.permitted,
        "ptr_size": task.ptr_size,
        "timing": msgspec.to_builtins(options.timing),
        "process_pairs": options.process_pairs,
        "baselines": options.baselines,
        "device": options.device,
        "platform": options.platform,
        "mode": "counters" if options.counters and options.knowledge else "counter-free",
        "noise": options.noise_pct / 100,
        "iterations": options.iterations,
        "branches": options.branches,
        "slots": options.slots,
        "retries": options.retries,
        "ncu_num": options.ncu_num,
        "attribution": options.attribution,
        "proposer": options.proposer if known else "command",
        "proposer_command": "" if known else options.proposer,
        "proposer_timeout_s": options.proposer_timeout_s,
        "external_benchmark": options.external_benchmark,
        "gpu_seconds": options.gpu_seconds,
        "target": read_target(options.target),
        "placeholders": [read_placeholder(text) for text in options.placeholders],
        "notes": options.notes,
        "extra": {"templates": options.templates, "knowledge": options.knowledge},
    }
    if options.proof != "apart":  # not written: so were the settings of runs of before
        plain["proof"] = options.proof
    return settings_of(plain)


def settings_of(plain: Mapping[str, Any]) -> Settings:
    """Settings from builtins; UsageError in place of a decoder's words."""
    try:
        return msgspec.convert(msgspec.to_builtins(dict(plain)), Settings)
    except (msgspec.ValidationError, ValueError) as problem:
        raise UsageError(
            f"settings make no sense: {_in_words(str(problem), plain)}",
            remedy="see `kbs optimize --help`",
        ) from problem


_WRONG_KIND = re.compile(r"Expected `(?P<kind>[^`]+)`, got `[^`]+` - at `\$\.(?P<field>\w+)`")
_KINDS = {"float": "a number", "int": "a whole number", "bool": "true or false", "str": "a text",
          "array": "a list", "object": "an object of named values"}  # fmt: skip


def _in_words(told: str, plain: Mapping[str, Any]) -> str:
    """What a decoder says of a field of the wrong kind, for people; the rest as it is."""
    wrong = _WRONG_KIND.fullmatch(told)
    if wrong is None:
        return told
    kinds = " or ".join(_KINDS.get(one, one) for one in wrong["kind"].split(" | "))
    return f"{wrong['field']} is {kinds}, not {plain.get(wrong['field'])!r}"


def read_placeholder(text: str) -> Placeholder:
    """``metric=value`` or ``metric=value unit``: never a spec, and marked wherever it is shown."""
    name, sign, rest = text.partition("=")
    number, _, unit = rest.strip().partition(" ")
    try:
        value = float(number)
    except ValueError as problem:
        raise UsageError(
            f"{text!r} is no placeholder", where="--placeholder",
            remedy="write metric=value, for example memory_bandwidth=4e12",
        ) from problem  # fmt: skip
    if not sign or not name.strip():
        raise UsageError(f"{text!r} names no metric", where="--placeholder", remedy="metric=value")
    if unit.strip() not in SPEC_UNITS or not (math.isfinite(value) and value > 0):
        raise UsageError(
            f"{text!r} gives no value that a roofline can use", where="--placeholder",
            remedy=f"a number above 0, alone in base units (B/s, FLOPS, Hz, B) or with one of "
            f"{', '.join(unit for unit in SPEC_UNITS if unit)}",
        )  # fmt: skip
    return Placeholder(metric=name.strip(), value=value, unit=unit.strip())


def read_target(text: str) -> Target | None:
    """``0.061ms``, ``61us`` or a share of the model such as ``0.9``; empty is none."""
    if not text.strip():
        return None
    word = text.strip()
    for unit in sorted(_UNITS, key=len, reverse=True):
        number = word.removesuffix(unit).strip()
        if word.endswith(unit) and _is_number(number):
            return Target(kind="time", value=float(number) * _UNITS[unit], unit="ns",
                          because="asked for on the command line")  # fmt: skip
    if _is_number(word) and 0 < float(word) <= 1:
        return Target(kind="share_of_model", value=float(word), unit="share",
                      because="asked for on the command line")  # fmt: skip
    raise UsageError(
        f"{text!r} is no target", where="--target", remedy="write a time (61us) or a share (0.9)"
    )


def _is_number(text: str) -> bool:
    try:
        return float(text) > 0
    except ValueError:
        return False
