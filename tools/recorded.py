"""The outcomes that `make probes` recorded, as far as they still speak about today's files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kbs_engine.signatures import Signature
from tests.pages.page_code import Block
from tests.probes.record import RESULTS, SCHEMA_VERSION, probe_key
from tests.probes.run_probes import probes_for

NOT_RECORDED = "not recorded"
NO_CLAIM = "no claim"
NOT_OBSERVABLE = "n.o."


class Recorded:
    """Look outcomes up; one whose source has changed since counts as not recorded."""

    def __init__(self, path: Path = RESULTS) -> None:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if document["schema_version"] != SCHEMA_VERSION:
            msg = f"{path} has schema {document['schema_version']}: run `make probes`"
            raise ValueError(msg)
        self.date = str(document["date"])
        self.compilers: dict[str, str] = document["compilers"]
        self._probes = {
            (row["method"], row["arch"], row["probe"], row["key"]): row["outcome"]
            for row in document["probes"]
        }
        self._blocks = {
            (row["method"], row["key"], row["arch"]): row["compiled"] for row in document["blocks"]
        }

    def outcomes(self, signature: Signature, arch: str) -> list[tuple[str, str | None]]:
        """Pairs of expected and recorded outcome of each probe for a target."""
        method = signature.method
        return [
            (
                expected,
                self._probes.get((method, arch, path.name, probe_key(method, path.name))),
            )
            for path, expected in probes_for(signature, arch)
        ]

    def cell(self, signature: Signature, arch: str) -> str:
        """Say in one table cell what is known of a method on a target."""
        claims = signature.for_arch(arch)
        if not claims:
            return NO_CLAIM
        if any(claim.not_observable is not None for claim in claims):
            return NOT_OBSERVABLE
        found = self.outcomes(signature, arch)
        if not found or any(outcome is None for _, outcome in found):
            return NOT_RECORDED
        wrong = sum(expected != outcome for expected, outcome in found)
        if wrong:
            return f"WRONG {wrong}"
        confirmed = sum(outcome == "confirmed" for _, outcome in found)
        return f"{confirmed}+ {len(found) - confirmed}−"

    def code(self, blocks: Sequence[Block]) -> str:
        """Say how many compilable blocks of a page were compiled for all their targets."""
        own = [block for block in blocks if block.language and not block.skipped]
        good = sum(
            all(self._blocks.get((b.method, b.digest[:16], arch)) for arch in b.archs) for b in own
        )
        return f"{good} of {len(own)}" if own else ""
