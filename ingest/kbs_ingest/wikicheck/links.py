"""Citations and links inside the wiki: each leads to a line that is there."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from kbs_ingest.audit.judge import Judge
from kbs_ingest.audit.knowledge import knowledge_of
from kbs_ingest.audit.scan import scan_text
from kbs_ingest.wiki.markdown import unify_lines
from kbs_ingest.wiki.source import TEXT_SUFFIXES, WikiFile
from kbs_ingest.wikicheck.model import Collected, Collector

_LINK = re.compile(r"\[[^\]\n]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_SPAN = re.compile(r"`[^`\n]*`")


def check_links(wiki: Collected, out: Collector) -> tuple[int, int]:
    """Check all pages; return how many citations and links were looked at."""
    judge = Judge(knowledge_of(wiki.files, wiki.spec_pages, wiki.tables))
    files = {file.path: file for file in wiki.files}
    cited = linked = 0
    for file in wiki.files:
        if file.suffix not in TEXT_SUFFIXES:
            continue
        text = unify_lines(file.data.decode("utf-8", "replace"))
        cited += _check_citations(file, text, judge, out)
        if file.suffix == ".md":
            linked += _check_targets(file, text, files, out)
    return cited, linked


def _check_citations(file: WikiFile, text: str, judge: Judge, out: Collector) -> int:
    found = scan_text(text, file.suffix).citations
    for citation in found:
        verdict = judge.judge(citation)
        if verdict.verdict == "ok":
            continue
        out.add(
            f"{file.path}:{citation.line}",
            "citation",
            f"{verdict.verdict}: {citation.text}: {verdict.detail}",
            "correct the citation",
        )
    return len(found)


def _check_targets(file: WikiFile, text: str, files: Mapping[str, WikiFile], out: Collector) -> int:
    count = 0
    for line, target in _targets(text):
        count += 1
        where = f"{file.path}:{line}"
        path = unquote(target.split("#", 1)[0].split("?", 1)[0])
        if not path:
            continue
        if path.startswith("/") or "\\" in path:
            out.add(where, "link", f"the link {target} is absolute", "make it relative")
            continue
        goal = posixpath.normpath(posixpath.join(posixpath.dirname(file.relative), path))
        if goal.startswith("../"):
            _check_outside(file, goal, target, where, out)
            continue
        full = f"{file.root.name}/{goal}" if file.root.name else goal
        folder = f"{full.rstrip('/')}/"
        inside = full in files or any(name.startswith(folder) for name in files)
        if not inside and not _is_other_file(file, goal):
            out.add(where, "link", f"the link {target} leads to no file", "correct the path")
    return count


def _check_outside(file: WikiFile, goal: str, target: str, where: str, out: Collector) -> None:
    """A wiki may point to the documents beside it, and no further."""
    if goal.startswith("../../"):
        out.add(
            where,
            "link",
            f"the link {target} leaves the folder that holds the wiki",
            "link inside the wiki, or give the URL",
        )
    elif not (file.root.path / goal).exists():
        out.add(
            where,
            "link",
            f"the link {target} leads beside the wiki, where nothing of this name lies",
            "correct the path, or give the URL",
            severity="warning",
        )


def _is_other_file(file: WikiFile, goal: str) -> bool:
    """Pictures and the like, which the reader does not index."""
    path = file.root.path / goal
    try:
        return path.resolve(strict=True).is_relative_to(file.root.path)
    except (OSError, RuntimeError):
        return False


def _targets(text: str) -> Iterator[tuple[int, str]]:
    """Line and target of every link outside code."""
    fence = ""
    for number, line in enumerate(text.split("\n"), start=1):
        if mark := _FENCE.match(line):
            if not fence:
                fence = mark[1][0]
            elif mark[1][0] == fence:
                fence = ""
            continue
        if fence:
            continue
        for link in _LINK.finditer(_SPAN.sub("", line)):
            if not _SCHEME.match(link[1]):
                yield number, link[1]
