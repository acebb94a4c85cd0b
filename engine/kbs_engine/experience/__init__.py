"""The experience log: records, their ids, merging, masks, doubts and calibration.

Everything here is a pure function of records; ``kbs_ingest.experience`` keeps them on disk.
"""

from kbs_engine.experience.calibration import Calibrated, Calibration, calibrate
from kbs_engine.experience.libraries import Libraries, reached_ns
from kbs_engine.experience.merging import hidden, union, visible
from kbs_engine.experience.quarantine import Physics, doubt, physics_of
from kbs_engine.experience.records import (
    Entry,
    Legacy,
    Mask,
    Record,
    Replication,
    Unmask,
    entry_of,
    read_line,
    record_id,
    write_line,
)
from kbs_engine.experience.replications import votes

__all__ = [
    "Calibrated",
    "Calibration",
    "Entry",
    "Legacy",
    "Libraries",
    "Mask",
    "Physics",
    "Record",
    "Replication",
    "Unmask",
    "calibrate",
    "doubt",
    "entry_of",
    "hidden",
    "physics_of",
    "reached_ns",
    "read_line",
    "record_id",
    "union",
    "visible",
    "votes",
    "write_line",
]
