"""``kbs loop set``: texts of a command line as changes of a run's settings, each that can work."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from kbs.context import Context
from kbs.looping.beginning import read_placeholder, settings_of
from kbs.looping.home import open_run
from kbs.looping.programs import require_program
from kbs.looping.running import replayed
from kbs_engine.errors import UsageError
from kbs_engine.run.memories import parse_setting
from kbs_engine.run.records import Settings

FOUND = frozenset({
    "language", "kernel_suffix", "family", "tolerance_from", "device_kind", "gpu", "gpu_uuid",
    "chip", "arch", "mode", "extra",
})  # fmt: skip
"""Settings that nobody chose: facts of the kernel and the machine."""
PROGRAMS = ("proposer_command", "external_benchmark")
"""Settings that name a program."""


def read_changes(context: Context, root: Path, texts: Sequence[str]) -> dict[str, Any]:
    """``field=value`` texts as changes of the settings; UsageError for what does not fit."""
    with open_run(context, root, writing=False) as run:
        plain = msgspec.to_builtins(run.state().settings)
    changes: dict[str, Any] = {}
    for text in texts:
        path, value = parse_setting(text)
        name, _, inner = path.partition(".")
        if name not in Settings.__struct_fields__:
            raise UsageError(
                f"{name} is no setting", where="--set",
                remedy="settings: " + ", ".join(Settings.__struct_fields__),
            )  # fmt: skip
        if name in FOUND:
            raise UsageError(
                f"{name} was found in the kernel or on the machine, it is no constraint",
                where="--set",
                remedy="begin another run for another kernel, language or machine",
            )
        if name == "device":
            raise UsageError(
                "the device of a run stays: its figures are of one machine", where="--set",
                remedy="--device of `resume` and `next` names it otherwise; begin another run "
                "for another",
            )  # fmt: skip
        if inner:
            held = dict(changes.get(name, plain[name]) or {})
            held[inner] = value
            value = held
        changes[name] = value
    after = settings_of({**plain, **changes})
    held = msgspec.to_builtins(after)
    for name, value in changes.items():
        _require_known(value, held[name], name)
    _check_proposer(after, changes)
    for row in after.placeholders if "placeholders" in changes else ():
        read_placeholder(f"{row.metric}={row.value} {row.unit}")
    if "dims" in changes:
        _check_dims(plain["dims"], changes["dims"])
    if changes.get("platform"):
        _check_platform(context, after)
    return changes


def _require_known(given: Any, held: Any, path: str) -> None:
    """UsageError for a field within a setting that it does not have, and that would be dropped."""
    if isinstance(given, dict) and isinstance(held, dict):
        for name, value in given.items():
            if name not in held:
                raise UsageError(
                    f"{path}.{name} is no setting", where="--set",
                    remedy=f"settings: {', '.join(f'{path}.{one}' for one in held) or 'none'}",
                )  # fmt: skip
            _require_known(value, held[name], f"{path}.{name}")
    elif isinstance(given, list) and isinstance(held, list | tuple):
        for index, (one, two) in enumerate(zip(given, held, strict=False)):
            _require_known(one, two, f"{path}[{index}]")


def _check_proposer(after: Settings, changes: Mapping[str, Any]) -> None:
    """Programs that are named are there, and one is named where a command proposes."""
    for name in PROGRAMS:
        if changes.get(name):
            require_program(changes[name], f"--set {name}")
    if after.proposer == "command" and not after.proposer_command:
        raise UsageError(
            "proposer command names no program", where="--set",
            remedy="give it too: --set 'proposer_command=CMD'",
        )  # fmt: skip


def _check_platform(context: Context, after: Settings) -> None:
    """RefusedError for a chip that the wiki does not know, unless placeholders stand in for it."""
    known = after.extra.get("knowledge", True) and replayed(after.device) is None
    if known and not after.placeholders:
        with contextlib.closing(context.store()) as store:
            store.chip(after.platform)


def _check_dims(before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Dims keep their names and kinds, and sizes stay sizes: an order cannot be taken back."""
    lacking = ", ".join(before.keys() - after.keys())
    if lacking:
        raise UsageError(
            f"dims leave out {lacking}",
            where="--set",
            remedy="set one alone: --set dims.NAME=VALUE",
        )
    for name, value in after.items():
        old = before.get(name)
        same_kind = type(value) is type(old) or (isinstance(old, float) and type(value) is int)
        if old is None or not same_kind:
            known = ", ".join(f"{key}={held}" for key, held in before.items())
            raise UsageError(
                f"dims.{name} cannot become {value!r}", where="--set", remedy=f"dims: {known}"
            )
        if type(value) is int and value < 1 <= old:
            raise UsageError(
                f"dims.{name} is a size, got {value}", where="--set", remedy="give at least 1"
            )
