"""Recorded outcomes of the suite on one machine."""

import re
from pathlib import Path

import msgspec

from kbs_engine.results import Machine
from tests.attacks.suite import Outcome

SCHEMA_VERSION = 1
FOLDER = Path(__file__).resolve().parent / "recorded"


FOLDERS = re.compile(r"(?<![\w./])/(?!(?:dev|proc)/)(?:[\w.+-]+/)+")
"""Folders of a machine: /dev and /proc are the same on all."""
TEMPORARY = re.compile(r"\b(?:kbs-device|worker|task)-[\w]{6,}/?")


def without_paths(text: str) -> str:
    """A detail as it may be published: files by their names, no folder of the machine."""
    return TEMPORARY.sub("", FOLDERS.sub("", text))


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


def scrubbed(outcome: Outcome) -> Outcome:
    """The outcome without folders of the machine that it was seen on."""
    return msgspec.structs.replace(outcome, detail=without_paths(outcome.detail))


def load(path: Path) -> Recording:
    """Read a recording."""
    return msgspec.json.decode(path.read_bytes(), type=Recording)


def recordings() -> tuple[Recording, ...]:
    """All recordings, the host's first."""
    found = [load(path) for path in sorted(FOLDER.glob("*.json"))]
    return tuple(sorted(found, key=lambda one: one.machine.device != "host"))
