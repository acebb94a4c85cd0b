"""Honest kernels near the roof: the physics floor refuses none of them."""

from __future__ import annotations

from kbs_engine.jobs import BaselineRef, Time, TimingSettings
from kbs_engine.results import Timed, read
from kbs_engine.timing import summary
from tests.gpu.session import KERNELS, ROOT, Session

CASES = (
    ("copy", KERNELS / "copy_torch.py", KERNELS / "copy_ref.py", {"N": 1 << 26}, ()),
    ("softmax, writes in L2", ROOT / "tests/kernels/softmax/kernel_triton.py",
     ROOT / "tests/kernels/softmax/ref.py", {"M": 4096, "N": 4096}, ()),
    ("gemm, TF32 permitted", KERNELS / "tf32_gemm.py", KERNELS / "fp32_gemm_ref.py",
     {"M": 4096, "N": 4096, "K": 4096}, ("tf32",)),
    ("gather, declared bytes", KERNELS / "gather_torch.py", KERNELS / "gather_ref.py",
     {"rows": 1 << 16, "picked": 1 << 14, "width": 1024}, ()),
)  # fmt: skip


def run(session: Session) -> None:
    rows = []
    for name, kernel, reference, dims, permitted in CASES:
        if session.left_s < 20:
            break
        small = dict.fromkeys(dims, 64)
        task = session.task(reference, small if session.dry else dims, permitted=permitted)
        arms = (session.source(kernel, "triton"), BaselineRef(name="pytorch-eager"))
        settings = TimingSettings(trials=5 if session.dry else 60,
                                  warmup_ms=0 if session.dry else 25)  # fmt: skip
        result = session.run(Time(arms=arms, task=task, settings=settings))
        row = {"case": name, "dims": task.dims, "failure": result.failure,
               "chip": session.chip.id if session.chip else None}  # fmt: skip
        if result.value is not None:
            arm = read(result, Timed).arms[0]
            row |= {"reason": arm.reason, "detail": arm.detail[:300], "floor_ns": arm.floor_ns}
            if arm.samples_ns:
                row["timing"] = summary(arm.samples_ns)
                if arm.floor_ns:
                    row["share_of_floor"] = arm.floor_ns / row["timing"].median_ns
        rows.append(row)
        print(f"  {name}: {row.get('reason')} {row.get('share_of_floor')}", flush=True)
    session.write("near_roof", rows)
