"""What replications say of methods: each is the word of one more machine."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from kbs_engine.experience.records import Replication
from kbs_engine.outcomes import Outcome
from kbs_engine.vocabulary import Verdict


def votes(
    id_: str, replication: Replication, outcomes: Mapping[str, Outcome]
) -> dict[str, Outcome]:
    """One outcome for each target that ``outcomes`` holds, on the machine that replicated it.

    A capsule holds a champion with several methods, so a vote says that they held up together
    there and carries no gain of its own. What a host timed speaks for no GPU, and what is timed
    again on the same machine adds no machine.

    Args:
        id_: the replication's id.
        replication: the record.
        outcomes: outcomes by id.
    """
    if replication.device in ("host", "recorded"):
        return {}
    found = {}
    for target in replication.targets:
        outcome = outcomes.get(target)
        if outcome is None or not outcome.helped:
            continue
        found[f"{id_}/{target}"] = msgspec.structs.replace(
            outcome,
            verdict=_verdict(replication),
            chip=replication.chip or outcome.chip,
            arch=replication.arch or outcome.arch,
            correct=replication.correct,
            integrity=replication.integrity,
            gain=None,
            gain_low=None,
            gain_high=None,
            predicted_gain=None,
            before_ns=None,
            after_ns=None,
            machine=replication.machine,
            date=replication.date,
            measurement=replication.measurement,
        )
    return found


def _verdict(replication: Replication) -> Verdict:
    if not (replication.correct and replication.integrity):
        return "implementation_failed"
    return "effective" if replication.verdict == "replicated" else "ineffective"
