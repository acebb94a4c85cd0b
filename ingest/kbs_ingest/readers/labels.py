"""Which counter a label of the details page stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kbs_ingest.readers.vendor_units import fits, parse_unit

if TYPE_CHECKING:
    from kbs_engine.metrics import MetricMap, MetricUnit

SECTIONS: Final[dict[str, str]] = {
    "GPU Speed Of Light": "SpeedOfLight",
    "GPU Speed Of Light Throughput": "SpeedOfLight",
    "GPU Speed Of Light Roofline Chart": "SpeedOfLight_RooflineChart",
    "Compute Workload Analysis": "ComputeWorkloadAnalysis",
    "Memory Workload Analysis": "MemoryWorkloadAnalysis",
    "Memory Workload Analysis Chart": "MemoryWorkloadAnalysis_Chart",
    "Memory Workload Analysis Tables": "MemoryWorkloadAnalysis_Tables",
    "Scheduler Statistics": "SchedulerStats",
    "Warp State Statistics": "WarpStateStats",
    "Instruction Statistics": "InstructionStats",
    "Launch Statistics": "LaunchStats",
    "Occupancy": "Occupancy",
    "Source Counters": "SourceCounters",
    "GPU and Memory Workload Distribution": "WorkloadDistribution",
    "PM Sampling": "PmSampling",
    "NVLink Topology": "Nvlink_Topology",
    "NVLink Tables": "Nvlink_Tables",
    "NUMA Affinity": "NumaAffinity",
}
"""Display names of sections, over the years, and their identifiers."""


def section_id(name: str) -> str:
    """The identifier of a section from its display name; other names are kept."""
    return SECTIONS.get(name, name)


class Labels:
    """Look up the vendor counter behind a label, by section and unit where it has several."""

    def __init__(self, metric_map: MetricMap) -> None:
        """Index the labels of a metric map."""
        self._known = metric_map.vendor_names()
        self._index: dict[str, list[tuple[str, MetricUnit, str]]] = {}
        for rule in metric_map.metrics.values():
            for label in rule.labels:
                entry = (rule.section, rule.unit, rule.names[0])
                self._index.setdefault(label.casefold(), []).append(entry)

    def counter(self, label: str, section: str, unit: str) -> str | None:
        """The counter, or None when the map has no use for this label.

        ``section`` is an identifier. A name of a counter stands for itself.
        """
        if "__" in label or label in self._known:
            return label
        entries = self._index.get(label.strip().casefold(), [])
        printed = parse_unit(unit)
        fitting = [one for one in entries if printed is None or fits(printed, one[1])]
        for choice in (fitting, entries):
            here = {name for where, _, name in choice if where == section}
            anywhere = {name for _, _, name in choice}
            for names in (here, anywhere):
                if len(names) == 1:
                    return names.pop()
        return None
