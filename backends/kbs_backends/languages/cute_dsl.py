"""CuTe DSL: ``setup`` and ``run_kernel`` in a .py file that imports ``cutlass.cute``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from kbs_backends.languages.base import Built, Call, Listings
from kbs_backends.languages.cache import CompileCache
from kbs_backends.languages.cubin import resources_in
from kbs_backends.languages.dsl_dump import Dump, compile_by_dump, package_version
from kbs_backends.languages.imports import imports
from kbs_backends.languages.machine_code import CUBIN, listings_of
from kbs_backends.languages.nvcc import check_arch
from kbs_backends.languages.python_kernel import PythonKernel
from kbs_engine.results import KernelResources
from kbs_engine.vocabulary import Language

PACKAGE = "nvidia-cutlass-dsl"


def _environment(arch: str, folder: Path) -> Mapping[str, str]:
    """The DSL's own switches: target, and a copy of every cubin."""
    return {
        "CUTE_DSL_ARCH": arch,
        "CUTE_DSL_KEEP": "cubin",
        "CUTE_DSL_DUMP_DIR": str(folder),
        "CUTE_DSL_NO_CACHE": "1",
        "CUTE_DSL_DISABLE_FILE_CACHING": "1",
    }


def _resources(cubins: Sequence[Path]) -> tuple[KernelResources, ...]:
    return tuple(row for cubin in cubins for row in resources_in(cubin))


DUMP = Dump(
    package=PACKAGE,
    kind=CUBIN,
    patterns=("*.cubin",),
    environment=_environment,
    resources=_resources,
)


class CuteDsl:
    """CuTe DSL kernels. Nothing is imported here: the package need not be installed."""

    name: Language = "cute-dsl"
    suffixes: tuple[str, ...] = (".py",)

    def detect(self, text: str) -> bool:
        """Whether the file imports cutlass."""
        return imports(text, "cutlass")

    def compile(
        self,
        source: Path,
        arch: str,
        *,
        cache: CompileCache,
        flags: Sequence[str] = (),
        call: Call | None = None,
    ) -> Built:
        """Cubins of what one call compiles; see ``LanguageModule.compile``."""
        check_arch(arch)
        version = package_version(PACKAGE, "CuTe DSL")
        return compile_by_dump(DUMP, version, source, arch, cache, flags, call)

    def listings(
        self,
        source: Path,
        arch: str,
        *,
        cache: CompileCache,
        flags: Sequence[str] = (),
        call: Call | None = None,
    ) -> Listings:
        """SASS; see ``LanguageModule.listings``."""
        return listings_of(
            self.compile(source, arch, cache=cache, flags=flags, call=call), str(source)
        )

    def load(self, source: Path, artifact: Path | None = None, *, name: str = "") -> PythonKernel:
        """``run_kernel``; MeasurementError when the package is not installed."""
        del artifact
        package_version(PACKAGE, "CuTe DSL")
        return PythonKernel.load(source, name)
