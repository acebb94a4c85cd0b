"""Candidates from templates of the wiki, where some compute what the reference does."""

from __future__ import annotations

import tempfile
from pathlib import Path

from kbs_engine.blobs import BlobStore
from kbs_engine.errors import KbsError
from kbs_engine.jobs import Task
from kbs_engine.proposals import Candidate
from kbs_engine.vocabulary import Language

METHOD = "algorithmic_replacement"
TF32 = "tf32_precision"


class TemplateSource:
    """Looks for templates once, on the CPU; what it found and why nothing fits is kept."""

    def __init__(
        self, task: Task, blobs: BlobStore, roots: tuple[Path, ...], language: Language, arch: str
    ) -> None:
        """Nothing is loaded before the first question."""
        self.task = task
        self.blobs = blobs
        self.roots = roots
        self.language = language
        self.arch = arch
        self._asked = False
        self._found: tuple[Candidate, ...] = ()
        self.why_not = ""

    def __call__(self) -> tuple[Candidate, ...]:
        """A candidate from every template that fits; none, with the reason in ``why_not``."""
        if not self._asked:
            self._asked = True
            try:
                self._found = self._look()
            except KbsError as problem:
                self.why_not = problem.message
        return self._found

    def _look(self) -> tuple[Candidate, ...]:
        from kbs_backends.baseline import fitting_templates
        from kbs_backends.tasks import load_reference
        from kbs_ingest.wiki.examples import load_templates

        with tempfile.TemporaryDirectory(prefix="kbs-template-") as folder:
            path = Path(folder) / "ref.py"
            path.write_bytes(self.blobs.get(self.task.reference_sha256))
            found, tried = fitting_templates(
                load_reference(path, self.task.dims),
                load_templates(self.roots),
                languages=template_languages(self.language),
                arch=self.arch,
                device="cpu",
                permitted=self.task.permitted,
            )
        if not found:
            self.why_not = "; ".join(tried) or "no template computes what the reference does"
        return tuple(
            Candidate(
                text=permitted_text(one.text, self.language, self.task),
                name=f"template {one.template}",
                methods=(METHOD,),
                note=f"starts from the template {one.template}",
                template=one.template,
            )
            for one in found
        )


def template_languages(language: Language) -> tuple[Language, ...]:
    """Languages of the templates that a run of a language may start from, the best first."""
    return ("cutlass", "cuda-cpp") if language == "cutlass" else (language,)


def permitted_text(text: str, language: Language, task: Task) -> str:
    """A template with TF32 exactly where the task permits it, where it has the switch."""
    from kbs_backends.variants import read_marks, write_variant

    if TF32 not in read_marks(text, language).methods():
        return text
    return write_variant(text, language, {}, {TF32: "tf32" in task.permitted})
