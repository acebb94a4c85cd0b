"""Timings with a known truth: fixed seeds, no clock."""

import numpy as np

from kbs_engine.results import ArmTimes, Timed
from kbs_engine.timing import abba


def timed(  # noqa: PLR0913 - each is one property of the simulated machine
    factors,
    *,
    calls=50,
    noise=0.01,
    offset=0.0,
    processes=1,
    seed=0,
    base=20_000.0,
    drift=0.0,
    step=0.0,
    order_seed=None,
):
    """One sample per turn: base × factor × process offset × drift × noise, in ABBA order."""
    rng = np.random.default_rng(seed)
    rows = [([], [], []) for _ in factors]
    for process in range(processes):
        shifts = (
            rng.normal(0.0, offset / np.sqrt(2), len(factors)) if offset else [0.0] * len(factors)
        )
        for place, arm in enumerate(abba(len(factors), calls // 2, order_seed)):
            log = np.log(factors[arm]) + shifts[arm] + drift * place + rng.normal(0.0, noise)
            value = base * np.exp(log)
            if step:
                value = max(step, round(value / step) * step)
            rows[arm][0].append(float(value))
            rows[arm][1].append(process)
            rows[arm][2].append(place)
    arms = tuple(
        ArmTimes(name=f"k{i}", samples_ns=tuple(s), process=tuple(p), position=tuple(q))
        for i, (s, p, q) in enumerate(rows)
    )
    return Timed(arms=arms, timer="simulated")
