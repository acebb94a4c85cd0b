"""Templates of ``examples/``: a YAML sheet beside each source, of the same name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from kbs_engine.errors import WikiError
from kbs_engine.facts import Citation
from kbs_engine.symptoms import Source
from kbs_engine.templates import Condition, Role, Template
from kbs_engine.vocabulary import Dtype, Family, Language
from kbs_ingest.wiki.faults import Faults
from kbs_ingest.wiki.shapes import YamlPart, convert, read_yaml
from kbs_ingest.wiki.source import name_roots

SUFFIXES = {
    "triton": ".py",
    "cute-dsl": ".py",
    "flydsl": ".py",
    "cuda-cpp": ".cu",
    "cutlass": ".cu",
}
ADAPTER, END = "kbs:adapter", "kbs:end"


class TemplateFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A sheet of examples/."""

    id: str
    title: str
    language: Language
    family: Family
    op: str
    roles: tuple[Role, ...]
    sources: tuple[Source, ...]
    options: dict[str, tuple[Any, ...]] = msgspec.field(default_factory=dict)
    valid: tuple[Condition, ...] = ()
    archs: tuple[str, ...] = ()
    permits: tuple[Dtype, ...] = ()
    same_dtype: bool = False
    methods: tuple[str, ...] = ()
    measured: tuple[dict[str, Any], ...] = ()


def read_template(part: YamlPart, path: str, source: str) -> Template:
    """A sheet with the text of its source; WikiError with the line of what does not fit."""
    found = convert(part, TemplateFile)
    _check(part, found, source)
    fields = {name: getattr(found, name) for name in found.__struct_fields__}
    return Template(**fields, text=source, citation=Citation(path=path, line=part.line("id")))


def _check(part: YamlPart, found: TemplateFile, source: str) -> None:
    names = [role.name for role in found.roles]
    dims = {dim.lstrip("*") for role in found.roles for dim in role.shape}
    if not any(role.direction == "out" for role in found.roles):
        raise WikiError("no role is an output", where=part.at("roles"), remedy="name one")
    if len(set(names)) != len(names):
        raise WikiError("two roles have one name", where=part.at("roles"), remedy="rename one")
    for number, one in enumerate(found.valid):
        if one.dim not in dims:
            raise WikiError(
                f"no role has a dim {one.dim}",
                where=part.at("valid", number),
                remedy=f"the dims are {', '.join(sorted(dims))}",
            )
    if source.count(ADAPTER) != 1 or source.count(END) != 1:
        raise WikiError(
            "the source has no adapter block",
            where=part.at("id"),
            remedy=f"put the entry points between one line with {ADAPTER} and one with {END}",
        )


def source_path(sheet: Path, language: str) -> Path:
    """The source beside a sheet."""
    return sheet.with_suffix(SUFFIXES.get(language, ".py"))


def read_sheet(path: Path, cited: str) -> Template:
    """One template from its sheet's file and the source beside it.

    Raises:
        WikiError: the sheet or the source cannot be read or breaks the format.
    """
    try:
        part = read_yaml(path.read_text(encoding="utf-8"), cited)
        language = part.value.get("language", "") if isinstance(part.value, dict) else ""
        source = source_path(path, str(language)).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise WikiError(
            f"the template cannot be read: {problem}",
            where=cited,
            remedy="a template is NAME.yaml with its source NAME.py or NAME.cu beside it",
        ) from problem
    return read_template(part, cited, source)


def load_templates(roots: Sequence[Path]) -> tuple[Template, ...]:
    """All templates of these wikis, by id; those of later roots stand in for earlier ones.

    Raises:
        WikiError: a template breaks the format.
    """
    found: dict[str, Template] = {}
    for root in name_roots(roots):
        for path in sorted((root.path / "examples").rglob("*.yaml")):
            relative = path.relative_to(root.path).as_posix()
            template = read_sheet(path, f"{root.name}/{relative}" if root.name else relative)
            if template.id != path.stem:
                raise WikiError(
                    f"id is {template.id}, the file is {path.stem}",
                    where=f"{relative}:1",
                    remedy="give both the same name",
                )
            found[template.id] = template
    return tuple(found[name] for name in sorted(found))


def check_sheet(path: Path, cited: str, faults: Faults) -> Template | None:
    """The template, or None with its fault noted."""
    try:
        return read_sheet(path, cited)
    except WikiError as error:
        faults.add_error(error)
        return None
