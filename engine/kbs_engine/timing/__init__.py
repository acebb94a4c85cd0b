"""What samples say: summaries, comparisons, races, and when not to believe them.

``compare(timed, a, b).ratio`` is the speedup of arm a over arm b: time of b / time of a.
"""

from kbs_engine.physics import (
    Floor,
    apply_floor,
    floor_ns,
    last_level_cache,
    physics_floor,
)
from kbs_engine.timing.blocks import block_log_ratios, timer_step_ns
from kbs_engine.timing.calibration import (
    PowerPoint,
    SelfComparison,
    cut,
    power,
    process_noise,
    self_comparison,
    slowed,
)
from kbs_engine.timing.clocks import ClockCheck, check_clocks, check_gain
from kbs_engine.timing.comparison import NOISE, Comparison, compare, compare_ratios
from kbs_engine.timing.order import abba
from kbs_engine.timing.racing import PLANNED_CALLS, Fate, Race, RaceReport
from kbs_engine.timing.summaries import TimingSummary, summary

__all__ = [
    "NOISE",
    "PLANNED_CALLS",
    "ClockCheck",
    "Comparison",
    "Fate",
    "Floor",
    "PowerPoint",
    "Race",
    "RaceReport",
    "SelfComparison",
    "TimingSummary",
    "abba",
    "apply_floor",
    "block_log_ratios",
    "check_clocks",
    "check_gain",
    "compare",
    "compare_ratios",
    "cut",
    "floor_ns",
    "last_level_cache",
    "physics_floor",
    "power",
    "process_noise",
    "self_comparison",
    "slowed",
    "summary",
    "timer_step_ns",
]
