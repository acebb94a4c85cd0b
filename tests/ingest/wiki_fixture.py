# ruff: noqa: E501 - tables and messages stand on one line, as in the files that they test
"""A small complete wiki for tests; each test changes one thing of it."""

from __future__ import annotations

from pathlib import Path

H100 = """---
kind: hardware
id: h100_sxm
name: NVIDIA H100 SXM5 80GB
vendor: nvidia
architecture: Hopper
arch: sm_90a
inherits: cc_9_0
aliases: [NVIDIA H100 80GB HBM3, H100 SXM]
ambiguous: [H100]
---
# NVIDIA H100 SXM5 80GB

The SXM part, often mistaken for the PCIe card.

## Specs
| Metric | Value | Unit | Basis | Source |
|---|---|---|---|---|
| `memory_bandwidth` HBM3 bandwidth | 3.35 | TB/s | per chip | [page] product page (A) |
| `peak_bf16_tensor` BF16 tensor | 989.4 | TFLOPS | dense; fp32 accumulate; per chip; clock 1830 MHz | [page] table (A) |
| `peak_bf16_tensor` BF16 tensor | 1978.9 | TFLOPS | sparse; fp32 accumulate; per chip; clock 1830 MHz | [page] table (A) |
| `peak_fp4_tensor` FP4 tensor | UNKNOWN |  | no such unit | looked in: page |
| `memory_type` memory | HBM3 |  |  | [page] product page (A) |

## Sources
- [page] NVIDIA H100 product page. <https://www.nvidia.com/en-us/data-center/h100/>
"""
H100_PCIE = (
    H100.replace("h100_sxm", "h100_pcie")
    .replace("SXM5", "PCIe")
    .replace("[NVIDIA H100 80GB HBM3, H100 SXM]", "[NVIDIA H100 PCIe]")
    .replace("3.35", "2.0")
)
CC90 = """---
kind: limits
id: cc_9_0
name: NVIDIA compute capability 9.0
vendor: nvidia
---
# Compute capability 9.0

## Specs
| Metric | Value | Unit | Basis | Source |
|---|---|---|---|---|
| `max_warps_per_unit` resident warps | 64 |  | per unit | [guide] table 30 (A) |
| `shared_per_block_max` shared memory | 227 | KiB | per block | [guide] table 31 (A) |

## Sources
- [guide] NVIDIA CUDA Programming Guide, Compute Capabilities.
"""
MEASURED = """---
kind: measured
id: h100_sxm_host
chip: h100_sxm
driver: "580.1"
---
# Measured on one H100 SXM host

## Measured
| Metric | Value | Unit | Basis | Source |
|---|---|---|---|---|
| `memory_bandwidth` triad | 3.01 | TB/s | per chip | [run] triad of 4 GiB (D) |

## Sources
- [run] own measurement.
"""
METHOD = """---
kind: method
id: coalesced_access
title: Coalesced global access
axis: memory
priority: 1
languages: [cuda-cpp]
requires: [tma]
addresses:
  uncoalesced_global_load: 0.9
complements: [smem_padding]
moves:
  load_sectors_per_request: down
signature: coalesced_access
status: cited
avoid_when:
  - id: already_coalesced
    when: p.load_bytes_per_sector_pct >= 95
    needs: [p.load_bytes_per_sector_pct]
    because: Every sector that is moved is used in full, so nothing is left to gain.
    source: Nsight Compute Profiling Guide
sources:
  - title: CUDA C++ Best Practices Guide
    url: https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/
---
# Coalesced global access

Neighbouring threads read neighbouring addresses, so that a warp touches few sectors.

## When
Sectors per request above 4 for 4-byte elements.

## How
### CUDA C++
```cuda
__global__ void copy(const float* a, float* b) { b[threadIdx.x] = a[threadIdx.x]; }
```

## Verify
Sectors per request fall to 4.

## Pitfalls
None where rows are contiguous.

## Sources
- CUDA C++ Best Practices Guide, coalesced access.
"""
PADDING = """---
kind: method
id: smem_padding
title: Shared-memory padding
axis: memory
priority: 2
languages: [triton]
addresses: {shared_bank_conflicts: 0.8}
status: cited
sources: [{title: CUDA C++ Best Practices Guide}]
---
# Shared-memory padding

One more column per row puts the elements of a column into different banks.

## When
Bank conflicts on column reads.

## How
### Triton
The compiler swizzles.

## Verify
Conflicts fall to zero.

## Pitfalls
It costs shared memory.

## Sources
- CUDA C++ Best Practices Guide, shared memory.
"""
UNCOALESCED = """id: uncoalesced_global_load
axis: memory
title: Uncoalesced global loads
needs: [p.load_sectors_per_request, p.load_bytes_per_sector_pct]
optional: [p.l1_pct]
when: p.load_bytes_per_sector_pct < 70 AND p.load_sectors_per_request > 4.5
severity: 1 - p.load_bytes_per_sector_pct / 100
recoverable: (1 - p.load_bytes_per_sector_pct / 100) * greatest(p.l1_pct, 0) / 100
message: "each load touches {p.load_sectors_per_request:.1f} sectors"
notes: four sectors hold a warp of floats
sources: [{title: Nsight Compute UncoalescedGlobalAccess rule}]
"""
CONFLICTS = """id: shared_bank_conflicts
axis: memory
title: Shared memory bank conflicts
needs: [p.shared_load_conflict_ways]
when: p.shared_load_conflict_ways > 1.5
severity: 1 - 1 / p.shared_load_conflict_ways
recoverable: 0.1
explains: [uncoalesced_global_load]
message: "{p.shared_load_conflict_ways:.1f}-way conflicts"
notes: one way is no conflict
sources: [{title: Nsight Compute SharedMemoryConflicts rule}]
"""
SIGNATURE = """method: coalesced_access
claims:
  - arch: [sm_90a]
    not_observable: the opcode is the same
"""
FEATURES = """features:
  tma: {meaning: bulk tensor copy, archs: [sm_90a, sm_100a], source: CUDA guide}
"""
METRICS = """vendor: nvidia
metrics:
  dram_pct:
    unit: pct
    description: device memory throughput
    names: [dram__throughput.avg.pct_of_peak_sustained_elapsed]
"""
CASES = """cases:
  - {id: transpose_case, title: Transpose, symptom: uncoalesced loads, fix: shared_transpose}
"""
GUIDE = """# Reading Nsight Compute

## Memory tables
Sectors per request tell how well a warp's addresses fall together.
"""

FILES = {
    "README.md": "# The wiki\n\nWhere each kind of fact lies.\n",
    "hardware/nvidia/h100_sxm.md": H100,
    "hardware/nvidia/h100_pcie.md": H100_PCIE,
    "hardware/nvidia/cc_9_0.md": CC90,
    "measured/h100_sxm_host.md": MEASURED,
    "methods/memory/coalesced_access.md": METHOD,
    "methods/memory/smem_padding.md": PADDING,
    "methods/groups.yaml": "groups:\n  - [coalesced_access, smem_padding]\n",
    "symptoms/uncoalesced_global_load.yaml": UNCOALESCED,
    "symptoms/shared_bank_conflicts.yaml": CONFLICTS,
    "signatures/coalesced_access.yaml": SIGNATURE,
    "isa/features.yaml": FEATURES,
    "metrics/nvidia.yaml": METRICS,
    "cases/published.yaml": CASES,
    "profiling/ncu.md": GUIDE,
    "examples/copy.cu": "__global__ void copy(float* a) {}\n",
}


def write_wiki(root: Path, changes: dict[str, str | None] | None = None) -> Path:
    """Write the wiki with some files replaced, added, or (None) left out."""
    for name, text in {**FILES, **(changes or {})}.items():
        if text is None:
            continue
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def line_of(text: str, part: str) -> int:
    """The line on which ``part`` stands."""
    return text[: text.index(part)].count("\n") + 1
