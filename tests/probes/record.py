"""Run every probe on every target and every block of every page, and record the outcomes.

`python -m tests.probes.record` writes `tests/probes/results.json`, from which the tables of
docs/coverage.md are made. What is cached is not compiled again. Methods named after it are recorded
alone, and the other rows stay as they are.
"""

import datetime as dt
import json
import sys
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import yaml

from kbs_engine.signatures import Signature
from tests.pages import page_code
from tests.probes import run_probes
from tests.probes.toolchain import CompileError, content_key, default_cache, jobs, versions

RESULTS = Path(__file__).with_name("results.json")
SCHEMA_VERSION = 1
Row = dict[str, Any]
Job = tuple[Signature, str, Path, str]


def probe_key(method: str, probe: str) -> str:
    """Address what an outcome rests on: the signature file and the sources that are judged."""
    signature = (run_probes.SIGNATURES / f"{method}.yaml").read_text()
    names = (probe, *_versions_before(signature))
    return content_key(signature, *((run_probes.PROBES / n).read_text() for n in names))[:16]


@cache
def _versions_before(signature: str) -> tuple[str, ...]:
    read = msgspec.convert(yaml.safe_load(signature), Signature)
    if not read.needs_before or read.probes is None:
        return ()
    names = read.probes.negative
    return (names,) if isinstance(names, str) else names


def all_probes() -> list[Job]:
    """Return every probe of every signature on every target that it speaks about."""
    return [
        (signature, arch, path, expected)
        for signature in run_probes.load_signatures().values()
        for arch in run_probes.observable_archs(signature)
        for path, expected in (
            *run_probes.probes_for(signature, arch),
            *run_probes.unclear_for(signature, arch),
        )
    ]


def probe_row(job: Job) -> Row:
    """Compile and judge one probe; a failure to compile is an outcome of its own."""
    signature, arch, path, expected = job
    try:
        judged = run_probes.run_probe(signature, arch, path, expected, default_cache()).verdict
        outcome, reason = str(judged.outcome), judged.reason
    except CompileError as error:
        outcome, reason = "error", str(error)
    return {
        "method": signature.method,
        "arch": arch,
        "probe": path.name,
        "expected": expected,
        "outcome": outcome,
        "reason": reason,
        "key": probe_key(signature.method, path.name),
    }


def block_row(result: page_code.BlockResult) -> Row:
    """Return what is recorded of one block: its digest finds it again when lines move."""
    block = result.block
    return {
        "method": block.method,
        "language": block.language,
        "arch": result.arch,
        "compiled": result.error is None,
        "key": block.digest[:16],
    }


def written(probes: Sequence[Row], blocks: Sequence[Row], when: dt.date) -> str:
    """Return the JSON document, one outcome a line so that changes read well."""
    head = {"schema_version": SCHEMA_VERSION, "date": when.isoformat(), "compilers": versions()}
    parts = [json.dumps(head, sort_keys=True)[:-1]]
    for name, rows in (("probes", probes), ("blocks", blocks)):
        lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        parts.append(f'"{name}": [\n{lines}\n]')
    return ",\n".join(parts) + "}\n"


def merged(
    kept: Sequence[Row], new: Sequence[Row], methods: Collection[str], order: Sequence[str]
) -> list[Row]:
    """Return the rows of the document with some methods replaced, in a full run's order."""
    rows = [row for row in kept if row["method"] not in methods and row["method"] in order]
    place = {method: n for n, method in reversed(list(enumerate(order)))}
    return sorted([*rows, *new], key=lambda row: place[row["method"]])


def main(methods: Collection[str] = ()) -> int:
    """Record all, or the methods named; exit 1 when an outcome is not what it must be."""
    every_probe, every_block = all_probes(), page_code.compilable_blocks()
    chosen = [job for job in every_probe if not methods or job[0].method in methods]
    with ThreadPoolExecutor(jobs()) as pool:
        probes = list(pool.map(probe_row, chosen))
    blocks = [b for b in every_block if not methods or b.method in methods]
    results = page_code.compile_all(blocks, default_cache())
    today = dt.datetime.now(tz=dt.timezone.utc).date()
    all_rows, all_blocks = probes, [block_row(r) for r in results]
    if methods:
        before = json.loads(RESULTS.read_text())
        all_rows = merged(before["probes"], probes, methods, [j[0].method for j in every_probe])
        all_blocks = merged(before["blocks"], all_blocks, methods, [b.method for b in every_block])
    RESULTS.write_text(written(all_rows, all_blocks, today))
    wrong = [row for row in probes if row["outcome"] != row["expected"]]
    for row in wrong:
        print(
            f"WRONG {row['method']} {row['arch']} {row['probe']}: {row['outcome']}, {row['reason']}"
        )
    failed = [r.error for r in results if r.error is not None]
    for error in failed:
        print(error)
    print(f"{len(probes) - len(wrong)} of {len(probes)} probes gave the verdict that they must")
    print(f"{len(results) - len(failed)} of {len(results)} blocks of pages compiled")
    for method in page_code.modest_pages(results):
        print(f"{method} says `cited` and all its code compiles")
    return 1 if wrong or failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
