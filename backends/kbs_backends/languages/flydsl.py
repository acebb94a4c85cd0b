"""FlyDSL: ``setup`` and ``run_kernel`` in a .py file that imports ``flydsl``.

It runs on AMD hardware alone and has not been run here: what kbs gives is its contract and its
machine code for gfx targets, compiled offline.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from kbs_backends.languages.amdgcn_metadata import amd_resources
from kbs_backends.languages.dsl_dump import Dump
from kbs_backends.languages.machine_code import AMDGCN
from kbs_backends.languages.python_dsl import PythonDsl
from kbs_engine.errors import UsageError
from kbs_engine.results import KernelResources
from kbs_engine.vocabulary import Language

PACKAGE = "flydsl"
NOT_RUN = "FlyDSL kernels need AMD hardware; they are compiled for it and not run"
_ARCH = re.compile(r"^gfx[0-9a-f]{3,5}$")


def _environment(arch: str, folder: Path) -> Mapping[str, str]:
    """Switches of flydsl 0.5 (utils/env.py): compile alone, for this target, dump the ISA."""
    return {
        "COMPILE_ONLY": "1",
        "ARCH": arch,
        "FLYDSL_GPU_ARCH": arch,
        "FLYDSL_DEBUG_DUMP_ASM": "1",
        "FLYDSL_DUMP_DIR": str(folder),
        "FLYDSL_RUNTIME_ENABLE_CACHE": "0",
    }


def _resources(assemblies: Sequence[Path]) -> tuple[KernelResources, ...]:
    return tuple(row for path in assemblies for row in amd_resources(path.read_text("utf-8")))


DUMP = Dump(
    package=PACKAGE,
    kind=AMDGCN,
    patterns=("*_final_isa.s",),
    environment=_environment,
    resources=_resources,
)


class FlyDsl(PythonDsl):
    """FlyDSL kernels."""

    name: Language = "flydsl"
    title = "FlyDSL"
    module = "flydsl"
    dump = DUMP

    def check_target(self, arch: str) -> None:
        """AMD targets alone."""
        if not _ARCH.match(arch):
            raise UsageError(
                f"FlyDSL does not compile for {arch}",
                remedy="give an AMD target, such as --arch gfx942",
            )
