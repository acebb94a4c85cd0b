"""What the Python DSLs share: one call compiles, and what it leaves behind is the machine code."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

from kbs_backends.languages.base import Built, Call, Listings
from kbs_backends.languages.cache import CompileCache
from kbs_backends.languages.dsl_dump import Dump, compile_by_dump, package_version
from kbs_backends.languages.imports import imports
from kbs_backends.languages.machine_code import listings_of
from kbs_backends.languages.python_kernel import PythonKernel
from kbs_engine.vocabulary import Language


class PythonDsl(ABC):
    """A DSL in Python files. Nothing is imported here: the package need not be installed."""

    name: Language
    suffixes: tuple[str, ...] = (".py",)
    title: str
    """The DSL as messages name it."""
    module: str
    """What its files import."""
    dump: Dump

    @abstractmethod
    def check_target(self, arch: str) -> None:
        """UsageError for an architecture that the DSL does not compile for."""

    def detect(self, text: str) -> bool:
        """Whether the file imports the DSL."""
        return imports(text, self.module)

    def compile(
        self,
        source: Path,
        arch: str,
        *,
        cache: CompileCache,
        flags: Sequence[str] = (),
        call: Call | None = None,
    ) -> Built:
        """Machine code of what one call compiles; see ``LanguageModule.compile``."""
        self.check_target(arch)
        version = package_version(self.dump.package, self.title)
        return compile_by_dump(self.dump, version, source, arch, cache, flags, call)

    def listings(
        self,
        source: Path,
        arch: str,
        *,
        cache: CompileCache,
        flags: Sequence[str] = (),
        call: Call | None = None,
    ) -> Listings:
        """SASS or AMD ISA; see ``LanguageModule.listings``."""
        return listings_of(
            self.compile(source, arch, cache=cache, flags=flags, call=call), str(source)
        )

    def load(self, source: Path, artifact: Path | None = None, *, name: str = "") -> PythonKernel:
        """``run_kernel``; MeasurementError when the package is not installed."""
        del artifact
        package_version(self.dump.package, self.title)
        return PythonKernel.load(source, name)
