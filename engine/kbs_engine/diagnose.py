"""Diagnosis of launches: roofline, root causes with effects, and what could not be measured."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from kbs_engine.causes import find_causes
from kbs_engine.errors import RefusedError
from kbs_engine.facts import Chip
from kbs_engine.metrics import usable
from kbs_engine.ports import Knowledge, Rows
from kbs_engine.profiles import Profile
from kbs_engine.recommendations import KernelDiagnosis
from kbs_engine.roofline import build_roofline
from kbs_engine.roofs import Roofline
from kbs_engine.rows import Call, build_rows
from kbs_engine.work import Work

_VENDOR_KERNEL: Final = re.compile(
    r"^(nvjet_|cutlass_\d|ampere_|volta_|turing_|sm\d+_(xmma|gemm)|cudnn|cublas|"
    r"void (cutlass|cudnn|cublas|at::native)|Cijk_|ck::)"
)
"""Names of library kernels: nobody edits them, so advice is about what surrounds them."""


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """One launch with everything known about it."""

    profile: Profile
    work: Work | None = None
    chip_name: str | None = None
    """The user's word. It overrides the device name that the report prints."""
    sidecar_chip: str | None = None
    """The GPU that a work sidecar names. It counts where nothing else names one."""
    chip: Chip | None = None
    """The chip's record itself, where the caller has one: placeholders included."""
    language: str | None = None


class Diagnosed(msgspec.Struct, frozen=True, kw_only=True):
    """A diagnosis with what the ranking needs besides."""

    diagnosis: KernelDiagnosis
    rows: Rows
    work: Work | None
    chip: Chip | None


def diagnose(
    subjects: Sequence[Subject], knowledge: Knowledge, *, call: Call | None = None
) -> tuple[Diagnosed, ...]:
    """Diagnose launches, in order; all rules are asked in one pass.

    Args:
        subjects: the launches.
        knowledge: wiki and experience.
        call: set only when the launches are exactly one call of the user's function.

    Raises:
        RefusedError: a chip given by the user that the wiki does not know.
    """
    total = sum(subject.profile.time_ns or 0.0 for subject in subjects)
    chips: dict[str, Chip | None] = {}
    prepared = [_prepare(subject, knowledge, chips, call or Call(), total) for subject in subjects]
    results = knowledge.evaluate([rows for _, _, rows, _ in prepared])
    rules = knowledge.rules()
    diagnosed = []
    for (subject, chip, rows, roofline), outcome in zip(prepared, results, strict=True):
        causes, effects, missing = find_causes(rules, outcome, rows)
        diagnosis = KernelDiagnosis(
            name=subject.profile.name,
            launch=subject.profile.launch,
            time_ns=subject.profile.time_ns,
            time_share=rows.c.get("time_share"),
            chip=chip.id if chip else None,
            limiter=roofline.limiter,
            algorithm_bound=roofline.algorithm_bound,
            near_peak=roofline.near_peak,
            metrics=subject.profile.metrics,
            causes=causes,
            effects=effects,
            not_measurable=missing,
            vendor_rules=subject.profile.vendor_rules,
            roofline=roofline,
            flags=(
                *subject.profile.flags,
                *roofline.flags,
                *_name_flags(subject.profile),
                *chip_flags(subject, chip, knowledge),
            ),
            language=subject.language,
            family=subject.work.kernel if subject.work else None,
        )
        diagnosed.append(Diagnosed(diagnosis=diagnosis, rows=rows, work=subject.work, chip=chip))
    return tuple(diagnosed)


def _prepare(
    subject: Subject,
    knowledge: Knowledge,
    chips: dict[str, Chip | None],
    call: Call,
    total_ns: float,
) -> tuple[Subject, Chip | None, Rows, Roofline]:
    chip = resolve_chip(subject, knowledge, chips)
    subject = _with_dram_share(subject, chip)
    roofline = build_roofline(subject.profile.metrics, chip=chip, work=subject.work)
    time = subject.profile.time_ns
    rows = build_rows(
        msgspec.structs.replace(subject.profile, metrics=usable(subject.profile.metrics)),
        work=subject.work,
        chip=chip,
        roofline=roofline,
        call=call,
        time_share=time / total_ns if time is not None and total_ns else None,
    )
    return subject, chip, rows, roofline


def _with_dram_share(subject: Subject, chip: Chip | None) -> Subject:
    """Fill in `dram_pct` from bytes moved, time and the cited peak where no counter states it."""
    profile = subject.profile
    moved, time = profile.dram_bytes, profile.time_ns
    peak = chip.device_number("memory_bandwidth") if chip else None
    if "dram_pct" in profile.metrics or not (moved and time and peak):
        return subject
    share = 100 * moved / (time * 1e-9) / peak
    told = "dram_pct is bytes moved per time against the cited bandwidth; no counter states it"
    metrics = {**profile.metrics, "dram_pct": share}
    flagged = msgspec.structs.replace(profile, metrics=metrics, flags=(*profile.flags, told))
    return msgspec.structs.replace(subject, profile=flagged)


def resolve_chip(
    subject: Subject, knowledge: Knowledge, chips: dict[str, Chip | None]
) -> Chip | None:
    """The chip by the user's word, else by the report's, else by its sidecar's.

    Only a person's word may refuse. A report whose device name and compute capability
    contradict each other names no chip, nor does a sidecar whose chip contradicts the latter.
    """
    if subject.chip is not None:
        return subject.chip
    if subject.chip_name is not None:
        return knowledge.chip(subject.chip_name)
    name = subject.profile.chip
    if name is None:
        chip = _of_sidecar(subject.sidecar_chip, knowledge)
    else:
        if name not in chips:
            chips[name] = _known(name, knowledge)
        chip = chips[name]
    return None if chip is not None and _another_arch(chip, subject.profile) else chip


def _of_sidecar(name: str | None, knowledge: Knowledge) -> Chip | None:
    if name is None:
        return None
    try:
        return knowledge.chip(name)
    except RefusedError as refused:
        raise RefusedError(
            refused.message, where="chip: of the work sidecar", remedy=refused.remedy
        ) from refused


def _known(name: str, knowledge: Knowledge) -> Chip | None:
    try:
        return knowledge.chip(name)
    except RefusedError:
        return None


def chip_flags(subject: Subject, chip: Chip | None, knowledge: Knowledge) -> tuple[str, ...]:
    """A device name that nobody knows, one that was overridden, and names that contradict."""
    told = _report_flags(subject, chip, knowledge)
    return (*told, *_sidecar_flags(subject, knowledge))


def _report_flags(subject: Subject, chip: Chip | None, knowledge: Knowledge) -> tuple[str, ...]:
    reported = subject.profile.chip
    if reported is None:
        return _unnamed_flags(subject, chip, knowledge)
    try:
        known = knowledge.chip(reported)
    except RefusedError as refused:
        if chip is not None:
            return (f"the report names {reported!r}, which the wiki does not know",)
        return (f"{refused.message}; --chip names one",)
    if chip is None:
        told = _contradiction(known, subject.profile)
        return (f"the report names {known.id}, but {told}; --chip names one",)
    flags = []
    if known.id != chip.id:
        flags.append(f"--chip {chip.id} overrides {known.id}, which the report names")
    if _another_arch(chip, subject.profile):
        flags.append(f"--chip {chip.id}: {_contradiction(chip, subject.profile)}")
    return tuple(flags)


def _unnamed_flags(subject: Subject, chip: Chip | None, knowledge: Knowledge) -> tuple[str, ...]:
    """Where the report names no GPU: nobody else does, or one of another architecture."""
    if chip is not None:
        if not _another_arch(chip, subject.profile):
            return ()
        told = _contradiction(chip, subject.profile, whose="the report's")
        return (f"--chip {chip.id}: {told}",)
    named = _known(subject.sidecar_chip, knowledge) if subject.sidecar_chip else None
    if named is None:
        return ("the report names no GPU; --chip names one",)
    told = _contradiction(named, subject.profile, whose="the report's")
    return (f"the work sidecar names {named.id}, but {told}; --chip names one",)


def _sidecar_flags(subject: Subject, knowledge: Knowledge) -> tuple[str, ...]:
    """Where the sidecar names another GPU than the one that counts."""
    named, counts = subject.sidecar_chip, subject.chip_name or subject.profile.chip
    if named is None or counts is None or named == counts:
        return ()
    who = "--chip" if subject.chip_name else "the report"
    try:
        theirs = knowledge.chip(named)
    except RefusedError as refused:
        return (f"the work sidecar's chip: {refused.message}; {who} names {counts}, which counts",)
    ours = _known(counts, knowledge)
    if ours is not None and ours.id == theirs.id:
        return ()
    return (f"the work sidecar names {theirs.id}, {who} {counts}, which counts",)


def _another_arch(chip: Chip, profile: Profile) -> bool:
    """Whether the launch ran on another compute capability than the chip's."""
    stated = (profile.compute_capability or "").replace(".", "")
    own = re.fullmatch(r"sm_(\d+)[a-z]?", chip.arch)
    return bool(stated and (own is None or own[1] != stated))


def _contradiction(chip: Chip, profile: Profile, *, whose: str = "its") -> str:
    return f"{whose} compute capability is {profile.compute_capability}, that chip is {chip.arch}"


def _name_flags(profile: Profile) -> tuple[str, ...]:
    if _VENDOR_KERNEL.match(profile.name):
        return ("vendor library kernel: its source is not yours to edit",)
    return ()
