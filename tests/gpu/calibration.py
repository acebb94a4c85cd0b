"""A/A comparisons and power: are the intervals right about kernels whose truth is known.

Comparisons go as users make them: three sets of fresh processes each. Starting processes takes
most of the time, so one job starts many of the same kernel, and each is compared with each other.
Such comparisons share arms; bounds are given for those that share none.
"""

from __future__ import annotations

from itertools import combinations, cycle, product

from kbs_engine.jobs import SourceRef, Task, Time, TimingSettings
from kbs_engine.results import Timed, read
from kbs_engine.timing import compare, process_noise, slowed, summary
from tests.gpu.pooled import HARNESS, effect_of, row
from tests.gpu.pooled import self_comparisons as self_comparisons_of
from tests.gpu.session import KERNELS, ROOT, Session

JOB_S = 15.0
"""A job is begun while more wall time than this is left."""
CALLS = 20
"""Samples of each arm in one process."""
PROCESSES = 3
ARMS = 12
"""Processes of one kernel at a time."""
EFFECTS = (0.03, 0.05, 0.10)
WANTED = 2000
WANTED_SLOWED = 100
"""Comparisons with a slowed kernel, for each effect."""
BASES, SLOWED = 4, 3
"""Processes of the kernel as it is, and of each slowed one, at a time."""


def self_comparisons(session: Session) -> None:
    """Kernels with themselves, until there are enough or no time."""
    found, disjoint, recorded, failures = [], [], [], []
    kernels = cycle(_kernels(session))
    arms, wanted = (4, 6) if session.dry else (ARMS, WANTED)
    slower: dict[float, list] = {effect: [] for effect in EFFECTS}
    while len(found) < wanted and session.left_s > JOB_S and len(failures) < 5:
        source, task = next(kernels)
        timed = _timed(session, (source,) * arms, task, len(recorded), failures)
        if timed is None:
            continue
        recorded.append(timed)
        found += [compare(timed, a, b) for a, b in combinations(range(arms), 2)]
        apart = [(a, a + 1) for a in range(0, arms - 1, 2)]
        disjoint += [compare(timed, a, b) for a, b in apart]
        for effect in EFFECTS:
            slower[effect] += [compare(slowed(timed, b, effect), a, b) for a, b in apart]
    data: dict = {"harness": HARNESS, "jobs": len(recorded), "comparisons": len(found),
                  "failures": failures, "calls_each": CALLS,
                  "processes_each": 1 if session.dry else PROCESSES}  # fmt: skip
    if found:
        data |= {
            "process_noise": process_noise(recorded),
            "all": [row(one) for one in found],
            "disjoint_all": [row(one) for one in disjoint],
            "slowed_all": {str(effect): [row(one) for one in slower[effect]] for effect in EFFECTS},
        }
        data = self_comparisons_of([data])
    session.write("self_comparison", data)


def spin_power(session: Session) -> None:
    """A copy against the same copy that spins 3, 5 and 10 % longer: found how often."""
    path, language = _spin(session)
    task = session.task(KERNELS / "copy_ref.py", {"N": 1 << 12 if session.dry else 1 << 25})
    text = path.read_text(encoding="utf-8")
    base = session.source(path, language, text)
    failures: list = []
    alone = _timed(session, (base,), task, 0, failures)
    if alone is None:
        session.write("power", {"failure": failures})
        return
    base_ns = summary(alone.arms[0].samples_ns).median_ns
    slow = {
        effect: session.source(
            path, language, text.replace("SPIN_NS = 0", f"SPIN_NS = {round(effect * base_ns)}")
        )
        for effect in EFFECTS
    }
    bases, each = (1, 1) if session.dry else (BASES, SLOWED)
    arms = (base,) * bases + tuple(slow[effect] for effect in EFFECTS for _ in range(each))
    kept: dict[float, list] = {effect: [] for effect in EFFECTS}
    block = 0
    while len(kept[EFFECTS[0]]) < (1 if session.dry else WANTED_SLOWED):
        block += 1
        if session.left_s < JOB_S or len(failures) > 3:
            break
        timed = _timed(session, arms, task, block, failures)
        if timed is None:
            continue
        for number, effect in enumerate(EFFECTS):
            first = bases + number * each
            pairs = product(range(bases), range(first, first + each))
            kept[effect] += [compare(timed, a, b) for a, b in pairs]
    points = [effect_of(effect, found) for effect, found in kept.items() if found]
    arms_each = {"kernel": bases, "slowed": each}
    session.write("power", {"harness": HARNESS, "base_ns": base_ns, "points": points,
                            "failures": failures, "arms_each": arms_each})  # fmt: skip


def _timed(
    session: Session, arms: tuple[SourceRef, ...], task: Task, block: int, failures: list
) -> Timed | None:
    """One job; what kept it from being one is added to ``failures``."""
    settings = TimingSettings(trials=CALLS + 1, warmup_ms=0 if session.dry else 25)
    result = session.run(Time(arms=arms, task=task, settings=settings, block=block,
                              fresh_processes=1 if session.dry else PROCESSES))  # fmt: skip
    timed = read(result, Timed) if result.value is not None else None
    if timed is None or any(arm.reason for arm in timed.arms):
        arms_told = [(arm.reason, arm.detail) for arm in timed.arms if arm.reason] if timed else []
        failures.append(result.failure or arms_told)
        return None
    return timed


def _kernels(session: Session) -> list:
    """Native ones on a GPU: nothing is compiled in a fresh process."""
    names = (("softmax", {"M": 512, "N": 2048}), ("reduction", {"M": 512, "N": 4096}),
             ("layernorm", {"M": 512, "N": 2048}))  # fmt: skip
    small = {"M": 4, "N": 32}
    file, language = ("kernel_triton.py", "triton") if session.dry else ("kernel.cu", "cuda-cpp")
    out = []
    for name, dims in names:
        folder = ROOT / "tests/kernels" / name
        source = session.source(folder / file, language)
        out.append((source, session.task(folder / "ref.py", small if session.dry else dims)))
    return out


def _spin(session: Session):
    if session.dry:
        return KERNELS / "spin_copy_host.py", "triton"
    return KERNELS / "spin_copy.cu", "cuda-cpp"
