"""CUTLASS: a .cu file like any other, whose headers have to be found first."""

from __future__ import annotations

import os
import re
from importlib import metadata, util
from pathlib import Path

from kbs_backends.languages.cuda_cpp import CudaCpp
from kbs_engine.errors import MeasurementError
from kbs_engine.vocabulary import Language

_INCLUDES = re.compile(r'^\s*#\s*include\s+[<"](?:cutlass|cute)/', re.MULTILINE)
_PACKAGE, _MODULE = "nvidia-cutlass", "cutlass_library"
_VERSION = re.compile(r"^#define CUTLASS_(MAJOR|MINOR|PATCH)\s+(\d+)", re.MULTILINE)


class Cutlass(CudaCpp):
    """CUDA C++ with CUTLASS and CuTe headers."""

    name: Language = "cutlass"

    def detect(self, text: str) -> bool:
        """Whether the file includes CUTLASS or CuTe headers."""
        return _INCLUDES.search(text) is not None

    def include_flags(self) -> tuple[tuple[str, ...], str]:
        """Where the headers are, and their version.

        Raises:
            MeasurementError: None of the three places has them.
        """
        include = find_headers()
        util_include = include.parent / "tools" / "util" / "include"
        folders = [include, *([util_include] if util_include.is_dir() else [])]
        flags = tuple(part for folder in folders for part in ("-I", str(folder)))
        return (*flags, "--expt-relaxed-constexpr"), f"CUTLASS {headers_version(include)}"


def find_headers() -> Path:
    """The include folder by CUTLASS_PATH, CUTLASS_INCLUDE_DIR or the nvidia-cutlass package.

    Raises:
        MeasurementError: Nothing found; a variable that is set but points nowhere is named.
    """
    wrong = []
    for variable in ("CUTLASS_PATH", "CUTLASS_INCLUDE_DIR"):
        value = os.environ.get(variable)
        if not value:
            continue
        for folder in (Path(value) / "include", Path(value)):
            if _has_headers(folder):
                return folder.resolve()
        wrong.append(f"{variable}={value}")
    packaged = _packaged()
    if packaged is not None:
        return packaged
    set_but = f" ({', '.join(wrong)} has no cutlass/cutlass.h)" if wrong else ""
    raise MeasurementError(
        f"CUTLASS headers were found nowhere{set_but}",
        remedy="set CUTLASS_PATH to the root of a CUTLASS checkout or CUTLASS_INCLUDE_DIR to its "
        "include folder, or pip install nvidia-cutlass",
    )


def headers_version(include: Path) -> str:
    """Version that ``cutlass/version.h`` states."""
    path = include / "cutlass" / "version.h"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    numbers = dict(_VERSION.findall(text))
    return ".".join(numbers[part] for part in ("MAJOR", "MINOR", "PATCH") if part in numbers)


def _has_headers(folder: Path) -> bool:
    return (folder / "cutlass" / "cutlass.h").is_file()


def _packaged() -> Path | None:
    """The copy that the nvidia-cutlass wheel ships, without importing it."""
    spec = util.find_spec(_MODULE)
    for root in (spec.submodule_search_locations or ()) if spec is not None else ():
        for folder in (Path(root) / "source" / "include", Path(root) / "include"):
            if _has_headers(folder):
                return folder.resolve()
    try:
        files = metadata.files(_PACKAGE) or ()
    except metadata.PackageNotFoundError:
        return None
    header = next((f for f in files if f.as_posix().endswith("include/cutlass/cutlass.h")), None)
    return Path(str(header.locate())).resolve().parent.parent if header is not None else None
