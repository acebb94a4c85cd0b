"""New pages with every key and heading, and a named hole for each thing to fill in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from kbs_engine.durable import make_folder, told_unwritable
from kbs_engine.errors import UsageError
from kbs_ingest.wiki.methods import LANGUAGE_HEADINGS
from kbs_ingest.wiki.names import is_id

MAX_NAME = 64
HOLE = "FILL" + " IN"
"""Marks what is left to do; spelled in two parts so that this file is not one."""
_FENCES = {"cuda-cpp": "cuda", "cutlass": "cuda", "hip": "cpp", "other": "text"}
_METRICS = (
    ("unit_count", "units that kernels can use", "per chip"),
    ("clock_boost", "boost clock in MHz", ""),
    ("memory_type", "memory type", ""),
    ("memory_capacity", "memory capacity", "per chip"),
    ("memory_bandwidth", "memory bandwidth", "per chip"),
    ("l2_size", "L2 cache", "per chip"),
    ("peak_fp32", "FP32 vector", "dense; per chip"),
    ("peak_fp16_tensor", "FP16 tensor", "dense; per chip"),
    ("peak_bf16_tensor", "BF16 tensor", "dense; per chip"),
    ("tdp", "board power", "per chip"),
)


class Scaffold(msgspec.Struct, frozen=True, kw_only=True):
    """A page that was written, and the holes in it by line."""

    path: Path
    holes: tuple[tuple[int, str], ...]
    shadows: Path | None = None
    """The page of the shipped wiki that this one replaces when both are read."""


def scaffold(
    kind: str,
    name: str,
    root: Path,
    *,
    vendor: str,
    axis: str,
    language: str,
    shipped: Path | None = None,
) -> Scaffold:
    """Write one page below ``root``; UsageError when the name is no id or the page exists."""
    if len(name) > MAX_NAME:
        raise UsageError(
            f"the name has {len(name)} characters, more than {MAX_NAME}",
            remedy="choose a shorter id",
        )
    if not is_id(name):
        raise UsageError(
            f"{name!r} is no id", remedy="use snake_case: lower-case words joined by underscores"
        )
    if not root.is_dir():
        raise UsageError(
            "no such wiki folder", where=str(root), remedy="create it, or name one with --dir"
        )
    builders: dict[str, Callable[[], tuple[str, str]]] = {
        "hardware": lambda: (f"hardware/{vendor}/{name}.md", _hardware(name, vendor)),
        "method": lambda: (f"methods/{axis}/{name}.md", _method(name, axis, language)),
        "symptom": lambda: (f"symptoms/{name}.yaml", _symptom(name, axis)),
    }
    relative, text = builders[kind]()
    path = root / relative
    _refuse_twin(root, relative, name)
    make_folder(path.parent)
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file, told_unwritable(path):
            file.write(text)
    except FileExistsError as error:
        raise _exists(path) from error
    shadows = _twin(shipped, relative, name) if shipped is not None else None
    return Scaffold(path=path, holes=_holes(text), shadows=shadows)


def _refuse_twin(root: Path, relative: str, name: str) -> None:
    twin = _twin(root, relative, name)
    if twin is not None:
        raise _exists(twin)


def _twin(root: Path, relative: str, name: str) -> Path | None:
    """The page of this id, which may stand in another axis or vendor folder."""
    top, _, last = relative.partition("/")
    pages = sorted((root / top).rglob(f"{name}{Path(last).suffix}"))
    return pages[0] if pages else None


def _exists(path: Path) -> UsageError:
    return UsageError(
        "the page exists; nothing is overwritten",
        where=str(path),
        remedy="edit it, or choose another name",
    )


def _holes(text: str) -> tuple[tuple[int, str], ...]:
    found = []
    for number, line in enumerate(text.split("\n"), start=1):
        if HOLE in line:
            hint = line.split(f"{HOLE}: ", 1)[1]
            for stop in ('"', "|", "`"):
                hint = hint.split(stop, 1)[0]
            found.append((number, hint.strip()))
    return tuple(found)


def _hardware(name: str, vendor: str) -> str:
    rows = "\n".join(
        f"| `{metric}` {words} | UNKNOWN |  | {basis} | "
        f"{HOLE}: {metric}, its unit and [key] with grade, or the documents looked in |"
        for metric, words, basis in _METRICS
    )
    return f"""---
kind: hardware
id: {name}
name: "{HOLE}: {name}, as the vendor prints it"
vendor: {vendor}
architecture: "{HOLE}: architecture of {name}"
arch: "{HOLE}: compiler target of {name}, sm_… or gfx…"
aliases: []  # {HOLE}: what nvidia-smi, torch, rocminfo and cloud vendors print
---
# {name}

{HOLE}: what this part is, and what it is often mistaken for.

## Specs
| Metric | Value | Unit | Basis | Source |
|---|---|---|---|---|
{rows}

## Disagreements
| Metric | Value | Unit | Basis | Source | Not used because |
|---|---|---|---|---|---|

## Exceptions
| Check | Metric | Reason | Source |
|---|---|---|---|

## Sources
- [key1] {HOLE}: title, version and locator of the document, with its URL
"""


def _method(name: str, axis: str, language: str) -> str:
    heading = next(title for title, id_ in LANGUAGE_HEADINGS.items() if id_ == language)
    fence = _FENCES.get(language, "python")
    mark = "#" if fence == "python" else "//"
    return f"""---
kind: method
id: {name}
title: "{HOLE}: title of {name}"
axis: {axis}
priority: 3  # {HOLE}: 1 first to try to 5 last resort
languages: [{language}]
requires: []
dtypes: []
kernels: []
not_kernels: []
addresses: {{}}  # {HOLE}: symptom id and weight, for example long_scoreboard_stall and 0.5
prerequisites: []
conflicts: []
complements: []
tunables: []
moves: {{}}  # {HOLE}: canonical metrics that move, up or down
signature: null
status: cited
measured: []
avoid_when: []
sources:
  - title: "{HOLE}: document, version and section"
    url: ""
---
# {name}

{HOLE}: what it is and why it pays, the mechanism with numbers.

## When
{HOLE}: the symptom in counters with thresholds, and the shapes on which it pays.

## How
### {heading}
```{fence}
{mark} {HOLE}: code that compiles alone
```

## Verify
{HOLE}: which counters move and how far, which opcodes appear.

## Pitfalls
{HOLE}: when it is wrong or does not pay.

## Sources
- {HOLE}: the same as in the front matter, with what each one says
"""


def _symptom(name: str, axis: str) -> str:
    return f"""id: {name}
axis: {axis}
title: "{HOLE}: title of {name}"
needs: []  # {HOLE}: canonical metrics that must be present
optional: []
when: "{HOLE}: SQL boolean over the rows p, c, w and h"
severity: "{HOLE}: SQL, 0 to 1"
recoverable: "{HOLE}: SQL, the share of kernel time that curing it could return"
explains: []
message: "{HOLE}: what a reader is told, with the measured numbers"
sections: []  # {HOLE}: ncu sections that collect the metrics
notes: "{HOLE}: why the thresholds are what they are"
sources:
  - title: "{HOLE}: document and section"
    url: ""
"""
