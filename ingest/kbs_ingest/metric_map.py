"""Read gpu-wiki/metrics/<vendor>.yaml into a MetricMap."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NoReturn

import msgspec

from kbs_engine.errors import WikiError
from kbs_engine.inputs import read_regular_text
from kbs_engine.metrics import MetricMap, MetricRule
from kbs_ingest import safe_yaml

if TYPE_CHECKING:
    from pathlib import Path

_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
_SUFFIX: Final = {"_pct": "pct", "_ns": "ns", "_bytes": "bytes", "_hz": "hz"}
"""Units that a canonical name states; they must agree with the rule."""
_RATIO_TERMS: Final = 2


def load_metric_map(path: Path) -> MetricMap:
    """Read and check a metric map; WikiError names the line and the fix."""
    try:
        text = read_regular_text(path)
    except (OSError, UnicodeDecodeError) as fault:
        raise WikiError(
            f"the metric map cannot be read: {fault}",
            where=str(path),
            remedy="check the path and save it as UTF-8",
        ) from fault
    document, lines = safe_yaml.load(text, str(path), error=WikiError)
    return _Checker(str(path), lines).metric_map(document)


class _Checker:
    """Turn the document into records, with lines in every message."""

    def __init__(self, where: str, lines: safe_yaml.Lines) -> None:
        self.where = where
        self.lines = lines

    def metric_map(self, document: object) -> MetricMap:
        if not isinstance(document, dict) or set(document) != {"vendor", "metrics"}:
            self._fail(
                (), "a metric map has the keys vendor and metrics", "see docs/wiki-format.md"
            )
        vendor, metrics = document["vendor"], document["metrics"]
        if vendor not in ("nvidia", "amd"):
            self._fail(("vendor",), f"vendor is {vendor!r}", "write nvidia or amd")
        if not isinstance(metrics, dict) or not metrics:
            self._fail(("metrics",), "no metrics", "list at least one metric")
        rules = {str(name): self._rule(name, body) for name, body in metrics.items()}
        return MetricMap(vendor=vendor, metrics=rules)

    def _rule(self, name: object, body: object) -> MetricRule:
        path = ("metrics", name if isinstance(name, str | int) else str(name))
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            self._fail(path, f"{name!r} is not a metric name", "use lower-case snake_case")
        if not isinstance(body, dict):
            self._fail(path, f"{name} has no fields", "give unit, description and names")
        fields = dict(body)
        for key in ("sum", "ratio"):
            if isinstance(fields.get(key), list):
                fields[key] = [[term] if isinstance(term, str) else term for term in fields[key]]
        try:
            rule = msgspec.convert(fields, MetricRule)
        except msgspec.ValidationError as fault:
            self._fail(path, f"{name}: {fault}", "see docs/wiki-format.md, Metric maps")
        self._check(path, name, rule)
        return rule

    def _check(self, path: tuple[str | int, ...], name: str, rule: MetricRule) -> None:
        if not (rule.names or rule.sum or rule.max or rule.ratio):
            self._fail(path, f"{name} reads no vendor metric", "give names, sum, max or ratio")
        if rule.ratio and len(rule.ratio) != _RATIO_TERMS:
            self._fail((*path, "ratio"), f"{name}: a ratio has two terms", "give two")
        if rule.labels and not rule.names:
            self._fail((*path, "labels"), f"{name}: labels stand for the first of names",
                       "add names, or remove the labels")  # fmt: skip
        for suffix, unit in _SUFFIX.items():
            if name.endswith(suffix) and rule.unit != unit:
                self._fail((*path, "unit"), f"{name} ends in {suffix} but its unit is {rule.unit}",
                           "rename it or correct the unit")  # fmt: skip
        if rule.min_arch and rule.max_arch and rule.min_arch > rule.max_arch:
            self._fail(path, f"{name}: min_arch is above max_arch", "swap them")

    def _fail(self, path: tuple[str | int, ...], message: str, remedy: str) -> NoReturn:
        while path and path not in self.lines:
            path = path[:-1]
        line = self.lines.get(path, 1)
        raise WikiError(message, where=f"{self.where}:{line}", remedy=remedy)
