"""What a run used, drew or ran on: no statement of what the hardware has."""

from __future__ import annotations

import re

from kbs_ingest.audit.model import Citation
from kbs_ingest.audit.words import concept_of

_RUN = (
    r"(?:kernels?|runs?|tests?|benchmarks?|launch(?:es)?|workloads?|jobs?|applications?|apps?"
    r"|programs?|experiments?|grids?)"
)
_ROOF = r"(?:roof(?:line)?|bound|limit|limiter|ceiling|bottleneck|target|floor|model|analysis)s?"
_SAFE = re.compile(
    rf"\b{_ROOF}\s+(?:of|for|in|on)\s+(?:[\w-]+\s+){{0,4}}?{_RUN}\b"
    rf"|\b{_RUN}(?:['’]s?)?\s+{_ROOF}\b"
    rf"|\bused\s+(?:for|as|here|below|above|throughout|to)\b"
    rf"|\bused\s+(?:in|by)\s+(?:the|this|our)\s+(?:{_ROOF}|reports?|tables?|sections?|calculations?)"
    r"|\b(?:value|figure|number|roof|peak|bound|limit|GPU|card|chip|board|device|part|machine)s?\s+used\b",
    re.IGNORECASE,
)
"""A roof of a kernel is none of its figures, and neither is what a calculation uses."""
_OF_RUN = (
    rf"(?:by|of|in|during|with|under|on|from)\s+(?:the|our|this|that|my|its|a|an|each|every|one)"
    rf"\s+(?:[\w-]+\s+){{0,3}}?{_RUN}\b"
    r"|(?:during|in|under|at|while|when)\s+(?:profiling|execution|training|inference|use"
    r"|run[\s-]?time|running)\b"
)
_USED = r"(?:used|consumed|drawn|occupied|utili[sz]ed|spent)\b"
_TOLD = re.compile(
    rf"\b(?P<phrase>{_USED}|{_OF_RUN}|{_RUN}['’]s?\s+(?!(?:BF|FP|TF|INT)\d|data\b|type|precision)\w+"
    rf"|{_RUN}\s+(?:[a-z]+ly\s+|only\s+|all\s+)?(?:uses?|using|used|needs?|has|have|had|takes?|took"
    r"|draws?|drew|gets?|got|delivers?|provides?|gives|runs?|ran|occup\w+|fills?|spans?|covers?)\b)",
    re.IGNORECASE,
)
_NOUN = re.compile(rf"\b(?P<phrase>{_RUN}\s+(?P<what>[A-Za-z]\w*))", re.IGNORECASE)
_FOLLOWS = re.compile(rf"\s*\(?(?P<phrase>{_USED}|{_OF_RUN})", re.IGNORECASE)


def of_a_run(citation: Citation) -> str:
    """Words by which a statement tells its number of a run, or nothing.

    What stands before a colon only names the part of the text.
    """
    said = citation.said
    for text in (said.near.rpartition(": ")[2], said.behind, said.head, said.remark):
        plain = _SAFE.sub(" ", text)
        if found := _TOLD.search(plain):
            return found["phrase"]
        for found in _NOUN.finditer(plain):
            if concept_of(found["what"].casefold()) or found["what"].casefold() == "throughput":
                return found["phrase"]
    after = _SAFE.sub(" ", citation.after.lstrip("`\"'*_)|"))
    return found["phrase"] if (found := _FOLLOWS.match(after)) else ""
