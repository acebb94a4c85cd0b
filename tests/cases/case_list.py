"""The case studies as records."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec
import yaml

from kbs_engine.vocabulary import Language

HERE = Path(__file__).parent


class Vendor(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What stands for the vendor library: its name, and the baseline that calls it."""

    name: str
    arm: Literal["pytorch-eager", "flashinfer"] = "pytorch-eager"


class CaseStudy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One task with a naive kernel."""

    id: str
    kernel: str
    dims: dict[str, Any]
    bound: str
    small: dict[str, Any]
    """Dims at which a CPU can run it."""
    vendor: Vendor
    title: str
    """What is computed, for people."""
    ref: str = "ref.py"
    language: Language
    """``cutlass`` is CUDA C++ whose templates may include CUTLASS."""
    permit: tuple[str, ...] = ()
    known: float | None = None
    """What an earlier tool is known to have reached over eager."""

    @property
    def source(self) -> Path:
        return HERE / "kernels" / self.kernel

    @property
    def reference(self) -> Path:
        return self.source.parent / self.ref

    def arguments(self, *, small: bool = False) -> list[str]:
        """Kernel, reference, dims and permissions as every measuring command takes them."""
        dims = msgspec.json.encode(self.small if small else self.dims).decode()
        permits = [word for name in self.permit for word in ("--permit", name)]
        named = ["--language", self.language] if self.language == "cutlass" else []
        return [str(self.source), "--ref", str(self.reference), "--dims", dims, *permits, *named]


def case_studies() -> tuple[CaseStudy, ...]:
    """All of cases.yaml."""
    text = (HERE / "cases.yaml").read_text(encoding="utf-8")
    return tuple(msgspec.convert(yaml.safe_load(text), list[CaseStudy]))
