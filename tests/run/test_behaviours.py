"""docs/behaviours.md names only what exists."""

from __future__ import annotations

import re

from kbs.cli import COMMANDS
from tests.conftest import ROOT

TEXT = (ROOT / "docs/behaviours.md").read_text(encoding="utf-8")


def test_every_file_and_folder_named_exists():
    named = re.findall(r"`((?:engine|ingest|backends|kbs|gpu-wiki|tests)/[\w./-]+)`", TEXT)
    assert len(named) > 60
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_command_named_exists():
    named = set(re.findall(r"`kbs (\w+)", TEXT))
    assert named - set(COMMANDS) == set()


def test_every_behaviour_is_ticked_and_the_five_documents_are_there():
    items = re.findall(r"^- (\[.\])", TEXT, re.MULTILINE)
    assert set(items) <= {"[x]", "[~]", "[ ]"}
    assert TEXT.count("\n## ") == 5
