"""Run every probe on every target and every block of every page, and record the outcomes.

`python -m tests.probes.record` writes `tests/probes/results.json`, from which the tables of
docs/coverage.md are made. What is cached is not compiled again.
"""

import datetime as dt
import json
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from kbs_engine.signatures import Signature
from tests.pages import page_code
from tests.probes import run_probes
from tests.probes.toolchain import CompileError, content_key, default_cache, jobs, versions

RESULTS = Path(__file__).with_name("results.json")
SCHEMA_VERSION = 1
Row = dict[str, Any]
Job = tuple[Signature, str, Path, str]


def probe_key(method: str, probe: str) -> str:
    """Address what an outcome rests on: the signature file and the probe's source."""
    signature = (run_probes.SIGNATURES / f"{method}.yaml").read_text()
    return content_key(signature, (run_probes.PROBES / probe).read_text())[:16]


def all_probes() -> list[Job]:
    """Return every probe of every signature on every target that it speaks about."""
    return [
        (signature, arch, path, expected)
        for signature in run_probes.load_signatures().values()
        for arch in run_probes.observable_archs(signature)
        for path, expected in run_probes.probes_for(signature, arch)
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


def main() -> int:
    """Record all; exit 1 when an outcome is not what it must be."""
    with ThreadPoolExecutor(jobs()) as pool:
        probes = list(pool.map(probe_row, all_probes()))
    results = page_code.compile_all(page_code.compilable_blocks(), default_cache())
    today = dt.datetime.now(tz=dt.timezone.utc).date()
    RESULTS.write_text(written(probes, [block_row(r) for r in results], today))
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
    sys.exit(main())
