"""One root read file by file, before roots are laid over each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kbs_engine.errors import WikiError
from kbs_engine.metrics import MetricMap
from kbs_engine.templates import Template
from kbs_ingest.metric_map import load_metric_map
from kbs_ingest.wiki import chunks as cut
from kbs_ingest.wiki.crosscheck import GroupList
from kbs_ingest.wiki.examples import check_sheet
from kbs_ingest.wiki.faults import Faults
from kbs_ingest.wiki.hardware import (
    HardwareFront,
    MeasuredFront,
    SpecPage,
    read_hardware,
)
from kbs_ingest.wiki.lists import (
    flat_text,
    read_cases,
    read_features,
    read_groups,
    read_signature,
)
from kbs_ingest.wiki.markdown import Document, parse
from kbs_ingest.wiki.methods import MethodPage, read_method
from kbs_ingest.wiki.model import Case, Chunk, Feature, SignatureFile
from kbs_ingest.wiki.names import is_id
from kbs_ingest.wiki.shapes import YamlPart, read_yaml
from kbs_ingest.wiki.source import CODE_SUFFIXES, WikiFile
from kbs_ingest.wiki.symptoms import SymptomPage, read_symptom
from kbs_ingest.wiki.words import PATH as WORDS_FILE
from kbs_ingest.wiki.words import Words, read_words

HARDWARE_KINDS = frozenset({"hardware", "limits", "measured"})
GUIDE_FOLDERS = frozenset({"isa", "profiling"})
MIXED_CASE_FILE = "README"


class RootReader:
    """Sorts the files of one root into records; faults are collected, not raised."""

    def __init__(self, faults: Faults) -> None:
        """Start empty."""
        self.faults = faults
        self.pages: dict[str, SpecPage] = {}
        self.measured: dict[str, SpecPage] = {}
        self.methods: dict[str, MethodPage] = {}
        self.rules: dict[str, SymptomPage] = {}
        self.features: dict[str, Feature] = {}
        self.groups: list[GroupList] = []
        self.signatures: dict[str, SignatureFile] = {}
        self.maps: dict[str, MetricMap] = {}
        self.cases: dict[str, Case] = {}
        self.templates: dict[str, Template] = {}
        self.words: list[Words] = []
        self.chunks: list[Chunk] = []
        self.shadowed: list[tuple[SpecPage, SpecPage]] = []
        """Pages of specs that a later root replaced, each with the page in its place."""
        self.lost: set[tuple[str, str]] = set()
        """Folder and name of files whose record could not be read."""

    def read(self, file: WikiFile) -> None:
        """Read one file into whatever it is."""
        known, told = self._size(), len(self.faults.found)
        try:
            if file.suffix in CODE_SUFFIXES:
                self._code(file)
            elif file.suffix == ".md":
                self._markdown(file)
            else:
                self._yaml(file)
        except WikiError as error:
            self.faults.add_error(error)
            self.faults.broken.add(file.path)
        if len(self.faults.found) > told:
            self._note_loss(file, unread=self._size() == known)

    def _size(self) -> int:
        return sum(len(kept) for kept in self._kept().values())

    def _kept(self) -> dict[str, dict[str, Any]]:
        """Records by the folder in which their files lie."""
        return {
            "hardware": self.pages,
            "measured": self.measured,
            "methods": self.methods,
            "symptoms": self.rules,
            "signatures": self.signatures,
            "metrics": self.maps,
            "isa": self.features,
        }

    def _note_loss(self, file: WikiFile, *, unread: bool) -> None:
        """Remember which name nobody can refer to because its file is at fault."""
        records = self._kept().get(file.folder)
        if records is None or file.stem in records or (file.folder == "isa" and not unread):
            return
        if file.folder == "isa" and file.relative != "isa/features.yaml":
            return
        self.lost.add((file.folder, file.stem))
        if unread:
            self.faults.broken.add(file.path)

    def _code(self, file: WikiFile) -> None:
        if file.folder == "examples":
            self.chunks.append(cut.code_chunk(file.text(), file.path))

    def _markdown(self, file: WikiFile) -> None:
        page = parse(file.text(), file.path)
        if not file.root.native:
            self.chunks.extend(cut.page_chunks(page, file.path, "page"))
            return
        for fault in page.faults:
            self.faults.add_error(fault)
        front = read_yaml(page.front, file.path) if page.front is not None else None
        kind = front.value.get("kind") if front and isinstance(front.value, dict) else None
        if front is not None and kind in HARDWARE_KINDS:
            self._hardware(file, front, page)
        elif front is not None and kind == "method":
            self._method(file, front, page)
        elif file.folder in {"hardware", "methods"} and file.stem != MIXED_CASE_FILE:
            self.faults.add(
                f"{file.path}:1",
                f"has no front matter with a kind that belongs in {file.folder}/",
                "begin it with '---' and 'kind: …' (docs/wiki-format.md)",
            )
        else:
            kind = file.folder if file.folder in GUIDE_FOLDERS else "page"
            self.chunks.extend(cut.page_chunks(page, file.path, kind))

    def _hardware(self, file: WikiFile, front: YamlPart, page: Document) -> None:
        found = read_hardware(front, page, file.path, self.faults)
        if found is None:
            return
        head = found.front
        kept = self.measured if head.kind == "measured" else self.pages
        self._keep(kept, head.id, found, file, front)
        arch = head.arch if isinstance(head, HardwareFront) else ""
        owner = head.chip if isinstance(head, MeasuredFront) else head.id
        archs = (arch,) if arch else ()
        self.chunks.extend(cut.page_chunks(page, file.path, head.kind, owner=owner, archs=archs))
        self.chunks.extend(
            cut.spec_chunk(spec, head.name or owner, arch)
            for spec in found.specs
            if spec.value is not None and head.kind != "limits"
        )

    def _method(self, file: WikiFile, front: YamlPart, page: Document) -> None:
        found = read_method(front, page, file.path, self.faults)
        if found is None:
            return
        method = found.method
        self._keep(self.methods, method.id, found, file, front)
        folder = file.relative.split("/")[1] if file.relative.count("/") > 1 else ""
        if file.folder == "methods" and folder != method.axis:
            self.faults.add(
                front.at("axis"),
                f"axis is {method.axis}, the page lies in {file.relative.rpartition('/')[0]}/",
                f"move it to methods/{method.axis}/ or correct the axis",
            )
        self.chunks.extend(
            cut.page_chunks(
                page,
                file.path,
                "method",
                owner=method.id,
                axis=method.axis,
                languages=method.languages,
            )
        )

    def _yaml(self, file: WikiFile) -> None:
        if file.folder == "metrics":
            self._metric_map(file)
            return
        part = read_yaml(file.text(), file.path)
        readers: dict[str, Callable[[WikiFile, YamlPart], None]] = {
            "symptoms": self._symptom,
            "signatures": self._signature,
            "cases": self._cases,
            "examples": self._template,
        }
        if file.relative == "isa/features.yaml":
            self.features.update(read_features(part, self.faults))
        elif file.relative == "methods/groups.yaml":
            self.groups.append(GroupList(read_groups(part, self.faults), part))
        elif file.relative == WORDS_FILE:
            self._words(file, part)
        elif file.folder in readers:
            readers[file.folder](file, part)
        else:
            text = flat_text(part.value)
            self.chunks.append(
                Chunk(kind="page", owner="", path=file.path, line=1, title=file.stem, text=text)
            )

    def _template(self, file: WikiFile, part: YamlPart) -> None:
        found = check_sheet(file.root.path / file.relative, file.path, self.faults)
        if found is not None:
            self._keep(self.templates, found.id, found, file, part)
            self.chunks.append(cut.template_chunk(found, flat_text(part.value)))

    def _symptom(self, file: WikiFile, part: YamlPart) -> None:
        found = read_symptom(part, file.path, self.faults)
        if found is not None:
            self._keep(self.rules, found.rule.id, found, file, part)
            self.chunks.append(cut.symptom_chunk(found.rule))

    def _signature(self, file: WikiFile, part: YamlPart) -> None:
        found = read_signature(part, file.path, self.faults)
        if found is not None:
            self._keep(self.signatures, found.signature.method, found, file, part, key="method")

    def _cases(self, file: WikiFile, part: YamlPart) -> None:
        for case in read_cases(part, file.path, self.faults):
            if case.id in self.cases:
                self.faults.add(
                    f"{case.citation.path}:{case.citation.line}",
                    f"the case {case.id} stands at {self.cases[case.id].citation} too",
                    "rename one",
                )
            self.cases[case.id] = case
            self.chunks.append(cut.case_chunk(case))

    def _words(self, file: WikiFile, part: YamlPart) -> None:
        found = read_words(part, file.path, self.faults)
        if found is not None:
            self.words.append(found)
            self.chunks.extend(found.chunks())

    def _metric_map(self, file: WikiFile) -> None:
        full = file.root.path / file.relative
        try:
            found = load_metric_map(full)
        except WikiError as error:
            where = error.where.replace(str(full), file.path)
            self.faults.add(where, error.message, error.remedy)
            return
        self.maps[found.vendor] = found

    def _keep(
        self,
        kept: dict[str, Any],
        id_: str,
        found: Any,
        file: WikiFile,
        part: YamlPart,
        *,
        key: str = "id",
    ) -> None:
        where = part.at(key)
        if not is_id(id_):
            self.faults.add(where, f"{id_!r} is no id", "use snake_case")
        elif id_ != file.stem:
            self.faults.add(
                where, f"{key} is {id_}, the file is {file.stem}", "give both the same name"
            )
        if id_ in kept:
            self.faults.add(where, f"{key} {id_} is defined twice in this wiki", "rename one")
        kept[id_] = found
