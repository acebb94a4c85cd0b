"""Methods, symptoms and signatures: what must stand beside what."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kbs_engine.errors import WikiError
from kbs_ingest.wiki.markdown import Document, parse
from kbs_ingest.wiki.methods import LANGUAGE_HEADINGS
from kbs_ingest.wiki.model import SignatureFile
from kbs_ingest.wiki.source import WikiFile
from kbs_ingest.wikicheck.model import Collected, Collector

_FENCE = re.compile(r"^ {0,3}(```|~~~)", re.MULTILINE)
_FENCED = frozenset({"CUDA C++", "Triton"})
PROBE_FOLDER = "signatures/probes"


def check_pages(wiki: Collected, out: Collector) -> int:
    """All checks of methods, symptoms and signatures; return how many headings show no code."""
    bare = 0
    files = {file.path: file for file in wiki.files}
    for name, signature in wiki.merged.signatures.items():
        _check_probes(name, signature, files, out)
    _check_signature_links(wiki, out)
    _check_addressed(wiki, out)
    for method in wiki.merged.methods.values():
        file = files.get(method.method.citation.path)
        if file is not None:
            bare += _check_code(file, out)
    return bare


def _check_probes(
    name: str, found: SignatureFile, files: Mapping[str, WikiFile], out: Collector
) -> None:
    path = found.citation.path
    claims = found.signature.claims
    if all(claim.not_observable for claim in claims):
        return
    where = f"{path}:{found.probes_line or found.citation.line}"
    folder = f"{path.rpartition('/')[0]}/probes"
    listed = {side: _probe_names(found, side) for side in ("positive", "negative")}
    for probe in sorted({*listed["positive"]} & {*listed["negative"]}):
        out.add(
            where,
            "probes",
            f"{probe} is both the positive and the negative probe of {name}",
            "name a kernel without the method as the negative one",
        )
    for side, names in listed.items():
        if not names:
            out.add(
                where,
                "probes",
                f"the signature of {name} has no {side} probe",
                f"add a kernel to {PROBE_FOLDER}/ and name it under probes",
            )
        for probe in names:
            if f"{folder}/{probe}" not in files:
                out.add(
                    where,
                    "probes",
                    f"the {side} probe {probe} does not lie in {folder}/",
                    "add the file, or correct its name",
                )


def _probe_names(found: SignatureFile, side: str) -> tuple[str, ...]:
    probes = found.signature.probes
    listed = getattr(probes, side) if probes else ()
    return (listed,) if isinstance(listed, str) else tuple(listed or ())


def _check_signature_links(wiki: Collected, out: Collector) -> None:
    """A method with a signature file names it; crosscheck has looked at the other direction."""
    for name, signature in wiki.merged.signatures.items():
        method = wiki.merged.methods.get(name)
        blind = all(claim.not_observable for claim in signature.signature.claims)
        if method is None or (blind and method.method.signature is None):
            continue
        named = (method.method.signature or "").removesuffix(".yaml")
        if named != name:
            out.add(
                method.front.at("signature"),
                "signature_link",
                f"{signature.citation.path} proves {name}, whose page names "
                f"{method.method.signature or 'no signature'}",
                f"write `signature: {name}.yaml`",
            )


def _check_addressed(wiki: Collected, out: Collector) -> None:
    if any(folder == "methods" for folder, _ in wiki.merged.lost):  # they may address it
        return
    addressed = {
        symptom for page in wiki.merged.methods.values() for symptom in page.method.addresses
    }
    for id_, page in wiki.merged.rules.items():
        if id_ in addressed or page.rule.axis == "none":
            continue
        out.add(
            page.part.at("id"),
            "symptom_unaddressed",
            f"no method addresses {id_}",
            "name it under `addresses` of a method, or make it a finding (axis: none)",
            severity="warning",
        )


def _check_code(file: WikiFile, out: Collector) -> int:
    """The format asks for a fenced block under CUDA C++ and Triton; others at least name code."""
    try:
        page = parse(file.text(), file.path)
    except WikiError:  # the reader has told it
        return 0
    bare = 0
    for section in page.sections:
        if "How" not in section.heading or section.title not in LANGUAGE_HEADINGS:
            continue
        text = _with_children(page, section.heading)
        if _FENCE.search(text):
            continue
        bare += 1
        if section.title in _FENCED or not text.strip():
            out.add(
                f"{file.path}:{section.line}",
                "code_block",
                f"'### {section.title}' shows no code",
                "add a fenced block that compiles, or take the heading and the language out",
            )
    return bare


def _with_children(page: Document, heading: tuple[str, ...]) -> str:
    size = len(heading)
    return "\n".join(part.text for part in page.sections if part.heading[:size] == heading)
