"""Words of the vendors that pages may use: architectures and sections of ncu."""

from __future__ import annotations

import re
from typing import Final

ARCH: Final = re.compile(r"sm_\d{2,3}[af]?|gfx[0-9a-f]{3,4}")
ARCH_FORM: Final = "write sm_NN, sm_NNa, sm_NNf or gfxNNN"
NCU_SECTIONS: Final = frozenset(
    {
        "C2CLink", "ComputeWorkloadAnalysis", "InstructionStats", "LaunchStats",
        "MemoryWorkloadAnalysis", "MemoryWorkloadAnalysis_Chart", "MemoryWorkloadAnalysis_Tables",
        "NumaAffinity", "Nvlink", "Nvlink_Tables", "Nvlink_Topology", "Occupancy", "PmSampling",
        "PmSampling_WarpStates", "SchedulerStats", "SourceCounters", "SpeedOfLight",
        "SpeedOfLight_HierarchicalDoubleRooflineChart",
        "SpeedOfLight_HierarchicalHalfRooflineChart",
        "SpeedOfLight_HierarchicalSingleRooflineChart",
        "SpeedOfLight_HierarchicalTensorRooflineChart", "SpeedOfLight_RooflineChart",
        "WarpStateStats", "WorkloadDistribution",
    }
)  # fmt: skip
"""Section identifiers of Nsight Compute, see gpu-wiki/profiling/ncu.md."""


def arch_fault(arch: str, vendor: str = "") -> str:
    """Why ``arch`` is no target, or none of this vendor; empty when it is sound."""
    if not ARCH.fullmatch(arch):
        return f"{arch!r} is no architecture"
    if vendor and arch.startswith("gfx") != (vendor == "amd"):
        return f"{arch} is no architecture of {vendor}"
    return ""
