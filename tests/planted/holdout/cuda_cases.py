"""The holdout's CUDA C++ cases: compiled, loaded and launched as the bench's own are."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import holdout_inputs
from case import Case

HERE = Path(__file__).resolve().parent


def _loader() -> ModuleType:
    """A second instance of the bench's loader, whose kernels are those of this folder."""
    spec = importlib.util.spec_from_file_location("holdout_loader", HERE.parent / "cuda_cases.py")
    if spec is None or spec.loader is None:
        raise ImportError(f"{HERE.parent / 'cuda_cases.py'}: cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.KERNELS = HERE / "kernels"
    return module


_bench = _loader()
build = _bench.build
use_build = _bench.use_build
CASES: list[Case] = [_bench._case(name, spec) for name, spec in holdout_inputs.SPECS.items()]
