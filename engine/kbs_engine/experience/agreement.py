"""Whether the parts of a capsule agree: its kernels, what was measured of them, and its claim."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from kbs_engine.decoding import decode_json
from kbs_engine.errors import KbsError
from kbs_engine.jobs import Check
from kbs_engine.results import Timed
from kbs_engine.results import read as read_result
from kbs_engine.run.benches import compare_arms, summaries, verdict
from kbs_engine.run.judged import MethodsFile
from kbs_engine.run.measured import Bench

if TYPE_CHECKING:
    from kbs_engine.experience.capsule import Capsule, Claim

SAME: Final = 1e-6
"""Relative difference that another build of the arithmetic may make."""


def bench_name(version: int) -> str:
    """Name in the archive of what was measured of the champion."""
    return f"v{version}/bench.json"


def methods_name(version: int) -> str:
    """Name in the archive of the list of methods that the champion holds."""
    return f"v{version}/methods.json"


def disagreement(manifest: Capsule, files: Mapping[str, bytes]) -> str:
    """The first part that does not fit the others; empty where all agree.

    The claim is computed again from the raw samples; task and settings are those whose hash the
    device's answers carry as the key of their job. ``files`` by name, their hashes checked.
    """
    return next(_disagreements(manifest, files), "")


def _disagreements(manifest: Capsule, files: Mapping[str, bytes]) -> Iterator[str]:
    kernels = {name: sha for name, sha in manifest.files.items() if "/kernel" in name}
    named = {
        "ref.py": manifest.task.reference_sha256 == manifest.files.get("ref.py"),
        "v0": kernels.get(_kernel(kernels, 0)) == manifest.v0.sha256,
        f"v{manifest.version}": kernels.get(_kernel(kernels, manifest.version))
        == manifest.champion.sha256,
    }
    for name, same in named.items():
        if not same:
            yield f"{name} is another file than the manifest says"
    if manifest.task.setup is not None and manifest.task.setup.sha256 != manifest.v0.sha256:
        yield "its inputs are set up by another kernel than v0"
    if {manifest.v0.language, manifest.champion.language} != {manifest.language}:
        yield "its kernels are of another language than the manifest states"
    yield from _methods(manifest, files.get(methods_name(manifest.version)))
    name = bench_name(manifest.version)
    if name not in files:
        yield f"{name} is missing: nothing shows what the claim was measured by"
        return
    try:
        yield from _measured(manifest, decode_json(files[name], Bench))
    except (msgspec.DecodeError, ValueError, KbsError) as problem:
        yield f"{name} cannot be read: {problem}"


def _methods(manifest: Capsule, data: bytes | None) -> Iterator[str]:
    """The methods that the manifest states against the list that the run kept."""
    name = methods_name(manifest.version)
    if data is None:
        if manifest.methods:
            yield f"{name} is missing: nothing shows which methods the champion holds"
        return
    try:
        held = decode_json(data, MethodsFile)
    except (msgspec.DecodeError, ValueError) as problem:
        yield f"{name} cannot be read: {problem}"
        return
    if held.version != manifest.version:
        yield f"{name} is of version {held.version}"
    if tuple(row.method for row in held.methods) != manifest.methods:
        yield f"it states other methods than {name} lists"


def _kernel(names: Mapping[str, str], version: int) -> str:
    return next((name for name in names if name.startswith(f"v{version}/kernel")), "")


def _measured(manifest: Capsule, bench: Bench) -> Iterator[str]:
    """The champion's bench against the manifest; its raw answers decide."""
    if (bench.source_sha256, bench.version) != (manifest.champion.sha256, manifest.version):
        yield "what was measured is another kernel than the champion"
    if bench.settings != manifest.timing:
        yield "it was timed with other settings than the manifest states"
    check = Check(source=manifest.champion, task=manifest.task, rounds=manifest.check_rounds)
    if bench.checks and check.key not in {row.job_key for row in bench.checks}:
        yield "its champion was checked on another task (dims, tolerances, inputs, rounds)"
    gpus = {row.provenance.gpu for row in (*bench.checks, *bench.blocks) if row.provenance.gpu}
    if gpus and gpus != {manifest.gpu}:
        yield f"it was measured on {', '.join(sorted(gpus))}, not on {manifest.gpu or 'no GPU'}"
    correct, reason, detail = verdict(bench.source_sha256, bench.checks, bench.blocks)
    if not correct:
        yield f"its champion did not pass: {reason} {detail}".rstrip()
    timed = bench.timed()
    if timed is None:
        yield "its champion was never timed"
        return
    blocks = [read_result(block, Timed) for block in bench.blocks if block.value]
    pairs = max(_pairs(block, manifest) for block in blocks)
    if pairs != manifest.process_pairs:
        yield f"it was timed in {pairs} process pairs, not {manifest.process_pairs}"
    noises = {row.noise for row in bench.comparisons}
    if noises and noises != {manifest.claim.noise}:
        told = ", ".join(f"{noise:g}" for noise in sorted(noises))
        yield f"it was compared at a noise of {told}, not {manifest.claim.noise:g}"
    yield from _claimed(manifest, timed)


def _pairs(block: Timed, manifest: Capsule) -> int:
    """Process pairs in which one block timed champion and v0."""
    sides = [
        set(arm.process)
        for sha256 in (manifest.champion.sha256, manifest.v0.sha256)
        for arm in block.arms
        if arm.sha256 == sha256
    ]
    return len(set.intersection(*sides)) if len(sides) > 1 else 0


def _claimed(manifest: Capsule, timed: Timed) -> Iterator[str]:
    """The claim, computed again from the samples."""
    places = {arm.sha256: place for place, arm in enumerate(timed.arms)}
    a, b = (places.get(one.sha256) for one in (manifest.champion, manifest.v0))
    found = None
    if a is not None and b is not None:
        found = compare_arms(timed, a, b, manifest.claim.noise)
    if found is None:
        yield "its champion was not timed against v0"
        return
    claim: Claim = manifest.claim
    medians = {row.sha256: row.median_ns for row in summaries(timed)}
    rows = (
        ("ratio", claim.ratio, found.ratio),
        ("low end", claim.low, found.low),
        ("high end", claim.high, found.high),
        ("time of v0", claim.v0_ns, medians.get(manifest.v0.sha256)),
        ("time of the champion", claim.champion_ns, medians.get(manifest.champion.sha256)),
    )
    for what, stated, again in rows:
        if stated is not None and (again is None or not math.isclose(stated, again, rel_tol=SAME)):
            told = "nothing" if again is None else f"{again:.6g}"
            yield f"it claims a {what} of {stated:.6g}; its samples give {told}"
