"""A/A comparisons and power: are the intervals right about kernels whose truth is known."""

from __future__ import annotations

from itertools import cycle

from kbs_engine.jobs import Time, TimingSettings
from kbs_engine.results import Timed, read
from kbs_engine.timing import compare, cut, power, process_noise, self_comparison, slowed, summary
from tests.gpu.session import KERNELS, ROOT, Session

CALLS = 20
"""Samples of each arm in one comparison."""
EFFECTS = (0.03, 0.05, 0.10)
WANTED = 1000
WANTED_SLOWED = 100
"""Comparisons with a slowed kernel, for each effect."""
PARTS_SLOWED = 5
"""Comparisons that one pair of processes gives."""


def self_comparisons(session: Session) -> None:
    """Each kernel with itself, in fresh pairs of processes, until 1,000 comparisons or no time."""
    found, recorded, failures = [], [], []
    kernels = cycle(_kernels(session))
    wanted = 4 if session.dry else WANTED
    while len(found) < wanted and session.left_s > 20 and len(failures) < 5:
        source, task = next(kernels)
        settings = TimingSettings(trials=2 * CALLS + 1 if session.dry else 20 * CALLS + 1,
                                  warmup_ms=0 if session.dry else 25)  # fmt: skip
        result = session.run(Time(arms=(source, source), task=task, settings=settings,
                                  block=len(recorded)))  # fmt: skip
        timed = read(result, Timed) if result.value is not None else None
        if timed is None or any(arm.reason for arm in timed.arms):
            failures.append(result.failure or [(arm.reason, arm.detail) for arm in timed.arms])
            continue
        recorded.append(timed)
        found += [compare(part, 0, 1) for part in cut(timed, CALLS)]
    data = {"comparisons": len(found), "failures": failures, "calls_each": CALLS}
    if found:
        data |= {
            "summary": self_comparison(found),
            "process_noise": process_noise(recorded),
            "all": [[round(c.ratio, 6), round(c.low, 6), round(c.high, 6), c.verdict]
                    for c in found],
            "slowed_in_the_record": [
                power(effect, [compare(part, 0, 1) for timed in recorded
                               for part in cut(slowed(timed, 1, effect), CALLS)])
                for effect in EFFECTS
            ],
        }  # fmt: skip
    session.write("self_comparison", data)


def spin_power(session: Session) -> None:
    """A copy against the same copy that spins 3, 5 and 10 % longer: found how often."""
    path, language = _spin(session)
    task = session.task(KERNELS / "copy_ref.py", {"N": 1 << 12 if session.dry else 1 << 25})
    text = path.read_text(encoding="utf-8")
    base = session.source(path, language, text)
    parts = 1 if session.dry else PARTS_SLOWED
    settings = TimingSettings(trials=parts * CALLS + 1, warmup_ms=0 if session.dry else 25)
    alone = session.run(Time(arms=(base,), task=task, settings=settings))
    if alone.value is None or read(alone, Timed).arms[0].reason:
        session.write("power", {"failure": alone.failure or alone.value})
        return
    base_ns = summary(read(alone, Timed).arms[0].samples_ns).median_ns
    kept: dict[float, list] = {effect: [] for effect in EFFECTS}
    failures = []
    wanted = 1 if session.dry else WANTED_SLOWED // PARTS_SLOWED
    for block in range(wanted):
        for effect in EFFECTS:
            if session.left_s < 20 or len(failures) > 5:
                break
            slower = text.replace("SPIN_NS = 0", f"SPIN_NS = {round(effect * base_ns)}")
            slow = session.source(path, language, slower)
            result = session.run(Time(arms=(base, slow), task=task, settings=settings,
                                      block=block))  # fmt: skip
            timed = read(result, Timed) if result.value is not None else None
            if timed is None or any(arm.reason for arm in timed.arms):
                failures.append(result.failure or [(a.reason, a.detail) for a in timed.arms])
                continue
            kept[effect] += [compare(part, 0, 1) for part in cut(timed, CALLS)]
    points = []
    for effect, comparisons in kept.items():
        if comparisons:
            true = sorted(c.ratio for c in comparisons)[len(comparisons) // 2] - 1
            points.append({"asked": effect, "median_measured": true,
                           "point": power(effect, comparisons)})  # fmt: skip
    session.write("power", {"base_ns": base_ns, "points": points, "failures": failures})


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
