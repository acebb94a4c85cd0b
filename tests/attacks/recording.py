"""Recorded outcomes of the suite on one machine."""

from pathlib import Path

import msgspec

from kbs_engine.results import Machine
from tests.attacks.suite import Outcome

SCHEMA_VERSION = 1
FOLDER = Path(__file__).resolve().parent / "recorded"


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """An attack, a twin (several repeats), or an attack without the defence that stops it."""

    id: str
    kind: str
    outcomes: tuple[Outcome, ...]
    wrong: str = ""
    """Why this is not what the manifest promises; empty when it is."""
    date: str = ""


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """One machine's file."""

    machine: Machine
    rows: tuple[Row, ...]
    schema_version: int = SCHEMA_VERSION

    @property
    def name(self) -> str:
        """What the machine is called in the table."""
        return "host" if self.machine.device == "host" else self.machine.gpu


def load(path: Path) -> Recording:
    """Read a recording."""
    return msgspec.json.decode(path.read_bytes(), type=Recording)


def recordings() -> tuple[Recording, ...]:
    """All recordings, the host's first."""
    found = [load(path) for path in sorted(FOLDER.glob("*.json"))]
    return tuple(sorted(found, key=lambda one: one.machine.device != "host"))
