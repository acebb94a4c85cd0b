"""CuTe DSL: ``setup`` and ``run_kernel`` in a .py file that imports ``cutlass.cute``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from kbs_backends.languages.cubin import resources_in
from kbs_backends.languages.dsl_dump import Dump
from kbs_backends.languages.machine_code import CUBIN
from kbs_backends.languages.nvcc import check_arch
from kbs_backends.languages.python_dsl import PythonDsl
from kbs_engine.results import KernelResources
from kbs_engine.vocabulary import Language

PACKAGE = "nvidia-cutlass-dsl"


def _environment(arch: str, folder: Path) -> Mapping[str, str]:
    """The DSL's own switches: target, and a copy of every cubin."""
    return {
        "CUTE_DSL_ARCH": arch,
        "CUTE_DSL_KEEP": "cubin",
        "CUTE_DSL_KEEP_CUBIN": "1",  # 4.4 and before
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


class CuteDsl(PythonDsl):
    """CuTe DSL kernels."""

    name: Language = "cute-dsl"
    title = "CuTe DSL"
    module = "cutlass"
    dump = DUMP

    def check_target(self, arch: str) -> None:
        """NVIDIA targets alone."""
        check_arch(arch)
