"""From a run folder to its capsule."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from kbs_engine.errors import RefusedError
from kbs_engine.experience.agreement import bench_name, disagreement, methods_name
from kbs_engine.experience.capsule import Capsule, Claim
from kbs_engine.gate import check_evidence
from kbs_engine.jobs import SourceRef, Task
from kbs_engine.run import RunFolder
from kbs_engine.run.files import read_bytes
from kbs_engine.run.judged import MethodsFile
from kbs_engine.run.records import Bench, State, VersionEntry


def capsule_of_run(
    run: RunFolder, *, targets: Sequence[str] = (), kbs_version: str = ""
) -> tuple[Capsule, dict[str, bytes]]:
    """The manifest and files of a run's best version against v0.

    Raises:
        InputError: A file of the run is missing or unreadable.
        RefusedError: Nothing faster than v0 was found, so that there is no claim; or the run
            does not prove it: the gate's rules on what was measured are asked again.
    """
    state = run.state()
    entry = state.version(state.best_version)
    if entry is None or not state.improved:
        raise RefusedError(
            "the run found nothing faster than v0, so there is no claim to replicate",
            where=str(run.root),
            remedy="pack a run whose `kbs loop status` says improved",
        )
    _prove(run, entry)
    suffix = state.settings.kernel_suffix
    files = {
        "ref.py": read_bytes(run.paths.reference),
        f"v0/kernel{suffix}": read_bytes(run.kernel_path(0)),
        f"v{entry.version}/kernel{suffix}": read_bytes(run.kernel_path(entry.version)),
        bench_name(entry.version): read_bytes(run.version(entry.version).bench),
        methods_name(entry.version): read_bytes(run.version(entry.version).methods),
    }
    v0 = _source(run, state, 0, files[f"v0/kernel{suffix}"])
    manifest = Capsule(
        kbs_version=kbs_version,
        run=state.run_id,
        version=entry.version,
        language=state.settings.language,
        kernel=state.settings.family,
        chip=state.settings.chip,
        arch=state.settings.arch,
        gpu=state.settings.gpu,
        task=_task(state, files["ref.py"], v0),
        timing=state.settings.timing,
        process_pairs=state.settings.process_pairs,
        check_rounds=state.settings.check_rounds,
        v0=v0,
        champion=_source(run, state, entry.version, files[f"v{entry.version}/kernel{suffix}"]),
        claim=_claim(run, state, entry, v0),
        methods=_methods(run, entry),
        targets=tuple(sorted(targets)),
        files={name: hashlib.sha256(data).hexdigest() for name, data in files.items()},
    )
    fault = disagreement(manifest, files)
    if fault:
        raise RefusedError(
            f"what the run measured of its best version does not fit its settings: {fault}",
            where=str(run.root),
            remedy="measure it under the settings of now: `kbs loop resume`, then pack again",
        )
    return manifest, files


def _prove(run: RunFolder, entry: VersionEntry) -> None:
    """RefusedError unless v0 and the best version stand as they were measured."""
    refusals = check_evidence(run, tuple(sorted({0, entry.version})))
    if refusals:
        told = "\n".join(map(str, refusals))
        raise RefusedError(
            f"the run does not prove its claim:\n{told}",
            where=str(run.root),
            remedy="mend what it names; only what was measured is packed",
        )


def _methods(run: RunFolder, entry: VersionEntry) -> tuple[str, ...]:
    """The methods of a version, from the file whose hash the journal holds."""
    held = run.read(run.version(entry.version).methods, MethodsFile)
    return tuple(row.method for row in held.methods)


def _task(state: State, reference: bytes, v0: SourceRef) -> Task:
    chosen = state.settings
    return Task(
        reference_sha256=hashlib.sha256(reference).hexdigest(),
        dims=chosen.dims,
        atol=chosen.atol,
        rtol=chosen.rtol,
        outputs=chosen.outputs,
        ptr_size=chosen.ptr_size,
        permitted=chosen.permitted,
        setup=v0,
    )


def _source(run: RunFolder, state: State, number: int, data: bytes) -> SourceRef:
    """The kernel of a version, described as its bench describes it where there is one."""
    bench_path: Path = run.version(number).bench
    bench = run.read(bench_path, Bench) if bench_path.is_file() else None
    return SourceRef(
        sha256=hashlib.sha256(data).hexdigest(),
        language=state.settings.language,
        name=state.settings.kernel_file,
        tunables=bench.tunables if bench else {},
        switches=bench.switches if bench else {},
    )


def _claim(run: RunFolder, state: State, entry: VersionEntry, v0: SourceRef) -> Claim:
    """What the run says of its champion; the time of v0 is the one that it was compared with."""
    beside = run.read(run.version(entry.version).bench, Bench).arm(v0.sha256)
    claim = {
        "ratio": entry.speedup_v0,
        "low": entry.speedup_v0_low,
        "high": entry.speedup_v0_high,
        "v0_ns": beside.median_ns if beside else None,
        "champion_ns": entry.median_ns,
        "noise": state.settings.noise,
    }
    return msgspec.convert(claim, Claim)
