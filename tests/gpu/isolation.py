"""What isolation costs, and what hostile candidates cost: one candidate each, never the run."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import time
from itertools import pairwise
from pathlib import Path

from kbs_backends.device.accelerators import owner_side
from kbs_backends.device.layout import Layout, TensorSpec
from kbs_backends.device.live import LiveWorker
from kbs_backends.device.messages import Limits, Load
from kbs_backends.device.watch import Watch
from kbs_backends.device.zygote_client import Zygote
from kbs_engine.jobs import Check
from tests.backends.device.test_hostile import CHECKED
from tests.gpu.session import KERNELS, Session, told

SPEC = TensorSpec(name="x", shape=(1024,), stride=(1,), dtype="float32", item_bytes=4)
HEAD = "import torch\n\ndef setup(**_):\n    return {}\n\n"
ON_GPU = ("crashed", "exited", "forked", "sandbox_violation", "wrote_too_much", "input_mutated",
          "cached_output", "forged_result", "thread_left")  # fmt: skip


def cost(session: Session) -> None:
    """Seconds of each step of a fresh worker, against a new interpreter."""
    kind = "host" if session.dry else "cuda"
    folder = session.work / "isolation"
    folder.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    subprocess.run([sys.executable, "-c", "import torch, triton"], check=False)
    data: dict = {"new_interpreter_s": time.monotonic() - start, "workers": []}
    side, zygote, watch = owner_side(kind, 0), Zygote(folder, kind), Watch()
    zygote.start()
    block = side.allocate(Layout(specs=(SPEC,), slots=1).total_bytes)
    for _ in range(3 if session.dry else 12):
        data["workers"].append(_one(zygote, watch, block, kind))
    block.free()
    zygote.close()
    later = sorted(one["all_s"] for one in data["workers"][1:])
    data["median_after_the_first_s"] = later[len(later) // 2]
    session.write("isolation", data)


def _one(zygote: Zygote, watch: Watch, block, kind: str) -> dict:
    marks = [time.monotonic()]
    with LiveWorker(zygote, watch, Limits(), trusted=False, sandbox=True) as worker:
        marks.append(time.monotonic())
        worker.open(kind, 0)
        worker.attach(block.handle)
        worker.attached()
        marks.append(time.monotonic())
        path = Path(worker.folder) / "k.py"
        path.write_text(HEAD + "def run_kernel(x, **_):\n    x.add_(1)\n", encoding="utf-8")
        worker.load(Load(path=str(path), language="triton"))
        worker.loaded()
        marks.append(time.monotonic())
        isolation = worker.isolation
    marks.append(time.monotonic())
    steps = dict(zip(("fork_s", "attach_s", "load_s", "end_s"),
                     (b - a for a, b in pairwise(marks)),
                     strict=True))  # fmt: skip
    return {**steps, "all_s": marks[-1] - marks[0], "isolation": isolation}


def hostile(session: Session) -> None:
    """Each hostile candidate, and an honest one after it."""
    rows = []
    task = session.task(KERNELS / "softmax_ref.py", {"N": 300})
    head = (KERNELS / "softmax_ref.py").read_text(encoding="utf-8") + HONEST
    cases = {code: CHECKED[code] for code in ON_GPU}
    if not session.dry:
        cases = {"hung": ENDLESS, "illegal_access": ILLEGAL, "out_of_memory": FILLS, **cases}
    for code, text in cases.items():
        if session.left_s < 25:
            break
        found = _check(session, head + textwrap.dedent(text), task)
        after = _check(session, head + "def run_kernel(x, y, **_):\n    honest(x, y)\n", task)
        rows.append({"expected": code, "found": found, "next_passes": after.get("passed")})
        print(f"  {code}: {found.get('reason')} then {after.get('passed')}", flush=True)
        session.write("hostile", rows)


def _check(session: Session, text: str, task) -> dict:
    source = session.source(Path("kernel.py"), "triton", text)
    found = told(session.run(Check(source=source, task=task, rounds=3)))
    found.pop("rounds", None)
    return found


HONEST = """

def honest(x, y):
    y.copy_(torch.softmax(x, 0))


"""
ILLEGAL = """
import triton
import triton.language as tl

@triton.jit
def kernel(y):
    tl.store(y + (1 << 40) + tl.arange(0, 32), 1.0)

def run_kernel(x, y, **_):
    honest(x, y)
    kernel[(1,)](y)
"""
FILLS = """
kept = []

def run_kernel(x, y, **_):
    while True:
        kept.append(torch.empty(1 << 30, dtype=torch.uint8, device=x.device))
"""
ENDLESS = """
import triton
import triton.language as tl

@triton.jit
def kernel(y):
    value = tl.load(y)
    while value < 1e30:
        value = tl.load(y, volatile=True) * 0
    tl.store(y, value)

def run_kernel(x, y, **_):
    kernel[(1,)](y)
"""
