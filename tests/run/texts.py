"""Sources and notes of the imagined run."""

from __future__ import annotations

from kbs_engine.run.records import (
    EvidenceNote,
    Hypothesis,
    PlanNote,
    Query,
    Search,
    SelectedEvidence,
)

REFERENCE = '''"""y = x scaled."""
import torch

atol, rtol = 1e-4, 1e-3


def setup(n=4096, seed=0, **kwargs):
    generator = torch.Generator().manual_seed(seed)
    return {
        "inputs": {"x": torch.randn(n, generator=generator), "out": torch.empty(n), "n": n},
        "outputs": ["out"],
    }


def reference(x, out, n, **kwargs):
    return 2 * x
'''
KERNEL = '''"""Scale, by hand."""
VECTOR = {vector}        # kbs:method vectorized_access
BLOCK = {block}          # kbs:tunable 128, 256


def setup(n=4096, **kwargs):
    raise AssertionError("the reference gives the inputs")


def run_kernel(x, out, n, **kwargs):
    out.copy_(x * {factor})
'''


def kernel(*, vector: bool = False, block: int = 128, factor: int = 2) -> str:
    return KERNEL.format(vector=vector, block=block, factor=factor)


def citation(wiki_line: str = "gpu-wiki/methods/memory/vectorized_access.md:L1") -> str:
    return wiki_line


def evidence(version: int) -> EvidenceNote:
    return EvidenceNote(
        version=version,
        facts=("dram_pct 41", "load_sectors_per_request 32"),
        queries=(
            Query(kind="kernel", text="elementwise scale", answer="3 passages"),
            Query(kind="bottleneck", text="uncoalesced loads", answer="5 passages"),
        ),
        selected=(SelectedEvidence(citation=citation(), says="wide loads cut instructions"),),
        rejected=("tiling: nothing is reused",),
        decision_link="Loads are narrow, so they are widened.",
    )


def hypothesis(version: int, *changes: str) -> Hypothesis:
    return Hypothesis(
        version=version,
        current_evidence=("load_sectors_per_request 32",),
        decision_link="narrow loads",
        change=changes or ("vectorized_access: 16-byte loads",),
        rationale="fewer, wider requests",
        expected=("load_sectors_per_request down",),
        risk="tails",
        evidence_used=(citation(),),
        decision_rule="keep when faster by more than 2 %",
    )


def plan(version: int, *action: str) -> PlanNote:
    return PlanNote(
        version=version,
        input_evidence=("load_sectors_per_request 32",),
        search_log=(
            Search(source="wiki", query="wide loads", finding="a method", actionability="high"),
        ),
        action=action or ("vectorized_access",),
        expected_impact=("fewer requests",),
        risks_and_rollback=("take the switch off",),
    )
