"""Read the labelled cases of `eval recommend`: questions and labels, kept apart."""

from __future__ import annotations

import math
from collections.abc import Collection
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, NoReturn

from kbs_engine.errors import InputError
from kbs_engine.evaluation.cases import EvalCase, Labels, Question
from kbs_engine.inputs import read_regular_text
from kbs_engine.partial_words import family_of, language_of
from kbs_ingest import safe_yaml

_REMEDY: Final = "see docs/cli.md, kbs eval"
_TEXT: Final = "text"


def read_eval_cases(path: Path, methods: Collection[str]) -> tuple[EvalCase, ...]:
    """All cases in file order; InputError gives the line and the fix.

    Args:
        path: the YAML file: a list, or ``cases: [...]``.
        methods: ids of the methods that the wiki knows; labels must be among them.
    """
    try:
        text = read_regular_text(path, "utf-8-sig")
    except FileNotFoundError as fault:
        raise InputError("no such file", where=str(path), remedy="check the path") from fault
    except (OSError, UnicodeDecodeError) as fault:
        raise InputError(
            f"the cases cannot be read: {fault}", where=str(path), remedy="save them as UTF-8"
        ) from fault
    document, lines = safe_yaml.load(text, str(path), error=InputError)
    return _Cases(str(path), lines, methods).build(document)


class _Cases:
    """Turn the document into records, with lines in every message."""

    def __init__(self, where: str, lines: safe_yaml.Lines, methods: Collection[str]) -> None:
        self.where = where
        self.lines = lines
        self.methods = methods

    def build(self, document: object) -> tuple[EvalCase, ...]:
        at: tuple[str | int, ...] = ()
        if isinstance(document, dict) and "cases" in document:
            document, at = document["cases"], ("cases",)
        if not isinstance(document, list) or not document:
            self._fail(at, "the file is no list of cases")
        found: dict[str, EvalCase] = {}
        for number, body in enumerate(document):
            case = self._case((*at, number), body)
            if case.id in found:
                first = found[case.id].line
                self._fail((*at, number, "id"), f"{case.id} is given twice, first on line {first}")
            found[case.id] = case
        return tuple(found.values())

    def _case(self, at: tuple[str | int, ...], body: object) -> EvalCase:
        if not isinstance(body, dict):
            self._fail(at, "a case has no fields")
        name = body.get("id")
        if not isinstance(name, str | int) or isinstance(name, bool) or name == "":
            self._fail(at, "a case has no id")
        worked = self._methods((*at, "worked"), body.get("worked"), f"{name}")
        if "worked" not in body:
            self._fail(at, f"{name}: no `worked`; write `worked: []` where nothing helped")
        failed = self._methods((*at, "did_not_work"), body.get("did_not_work"), f"{name}")
        both = sorted(set(worked) & set(failed))
        if both:
            self._fail((*at, "did_not_work"), f"{name}: {both[0]} both worked and did not")
        reference = body.get("reference")
        return EvalCase(
            id=str(name),
            line=self._line(at),
            question=self._question(at, body, str(name)),
            labels=Labels(
                worked=worked,
                did_not_work=failed,
                reference="" if reference is None else str(reference),
                split=self._word((*at, "split"), body.get("split"), f"{name}"),
            ),
        )

    def _question(
        self, at: tuple[str | int, ...], body: dict[str | int, Any], name: str
    ) -> Question:
        """Only these keys are ever told to a recommender."""
        kernel = self._word((*at, "kernel"), body.get("kernel"), name)
        backend = body.get("backend", body.get("language"))
        language = self._word((*at, "backend"), backend, name)
        metrics, text = self._symptoms((*at, "symptoms"), body.get("symptoms"), name)
        gpu = body.get("gpu", body.get("chip"))
        return Question(
            kernel=kernel,
            family=family_of(kernel),
            language=language_of(language),
            gpu=self._word((*at, "gpu"), gpu, name) or None,
            metrics=metrics,
            text=text,
        )

    def _symptoms(
        self, at: tuple[str | int, ...], value: object, name: str
    ) -> tuple[dict[str, float | str], str]:
        """Numbers and words by metric name, and the text."""
        if value is None:
            return {}, ""
        if isinstance(value, str):
            return {}, value
        if not isinstance(value, dict):
            self._fail(at, f"{name}: symptoms is no mapping of metrics to values")
        metrics: dict[str, float | str] = {}
        words = ""
        for key, item in value.items():
            if key == _TEXT:
                words = self._word((*at, key), item, name)
            elif isinstance(item, bool) or item is None:
                metrics[str(key)] = str(item).lower()
            elif isinstance(item, int | float) and math.isfinite(item):
                metrics[str(key)] = float(item)
            elif isinstance(item, str):
                metrics[str(key)] = item
            else:
                self._fail((*at, key), f"{name}: {key} is {item!r}, not a number or words")
        return metrics, words

    def _methods(self, at: tuple[str | int, ...], value: object, name: str) -> tuple[str, ...]:
        if value is None:
            return ()
        if not isinstance(value, list):
            self._fail(at, f"{name}: {at[-1]} is no list of method ids")
        for number, item in enumerate(value):
            if not isinstance(item, str) or item not in self.methods:
                close = get_close_matches(str(item), list(self.methods), n=3)
                told = f"; near: {', '.join(close)}" if close else ""
                self._fail((*at, number), f"{name}: {item!r} is no method of the wiki{told}")
        return tuple(dict.fromkeys(value))

    def _word(self, at: tuple[str | int, ...], value: object, name: str) -> str:
        if value is None:
            return ""
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return str(value).strip()
        return self._fail(at, f"{name}: {at[-1]} is {value!r}, not words")

    def _line(self, at: tuple[str | int, ...]) -> int:
        while at and at not in self.lines:
            at = at[:-1]
        return self.lines.get(at, 1)

    def _fail(self, at: tuple[str | int, ...], message: str) -> NoReturn:
        raise InputError(message, where=f"{self.where}:{self._line(at)}", remedy=_REMEDY)
