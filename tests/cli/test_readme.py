"""What the README says is what the commands do."""

from __future__ import annotations

import re

from kbs.cli import COMMANDS
from tests.conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_table_of_commands_is_the_list_of_commands():
    rows = dict(re.findall(r"^\| `kbs (\w+)` \| (.+) \|$", README, re.MULTILINE))
    assert rows == COMMANDS


def test_the_output_shown_is_what_the_command_prints(kbs):
    """Up to the ranking to the letter; scores hold a retrieval part that depends on the model."""
    command = re.search(r"`kbs (recommend tests/\S+ .*?)`", README).group(1)
    shown = README.split(command)[1].split("```\n")[1].strip("\n").splitlines()
    printed = kbs(*command.split()).out.strip("\n").splitlines()
    upto = next(i for i, line in enumerate(shown) if line.strip().startswith("Methods"))
    assert printed[: upto + 1] == shown[: upto + 1]
    ranked = [re.match(r"\s+\d\. (\w+)", line) for line in shown]
    names = [match.group(1) for match in ranked if match]
    again = [re.match(r"\s+\d\. (\w+)", line) for line in printed]
    assert [match.group(1) for match in again if match] == names


def test_files_that_the_readme_links_to_exist():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
