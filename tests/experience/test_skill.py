"""Every command line that the skill shows is one that kbs takes."""

from __future__ import annotations

import re
import shlex

import click
import pytest

from kbs.cli import COMMANDS, cli
from kbs.commands.skill import skill_files
from kbs_engine.errors import RefusedError
from kbs_engine.vocabulary import VERDICTS
from tests.conftest import ROOT

PAGES = {name: data.decode() for name, data in skill_files().items()}
FENCE = re.compile(r"^ *```bash\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(kbs [^`]+)`")


def command_lines():
    found = []
    for name, text in PAGES.items():
        for block in FENCE.findall(text):
            found += [(name, line.strip()) for line in block.splitlines() if line.strip()]
        found += [(name, line) for line in INLINE.findall(text)]
    return found


def parse(line):
    """Parse as click does, without running; files need not exist. Returns the command."""
    words = shlex.split(line)
    assert words[0] == "kbs", line
    context = click.Context(cli, info_name="kbs")
    command, rest = cli, words[1:]
    while isinstance(command, click.Group):
        name = rest[0]
        found = command.get_command(context, name)
        assert found is not None, f"{line}: no command {name}"
        command, rest = found, rest[1:]
        if not rest and isinstance(command, click.Group):
            return command
    if line.count(" ") <= 2 and not rest:
        return command  # one that is only named
    parser = command.make_context(command.name, list(rest), parent=context)
    assert not parser.args or "FREE" in str(command.params), f"{line}: {parser.args}"
    return command


@pytest.mark.parametrize(("page", "line"), command_lines(), ids=lambda value: value)
def test_a_command_of_the_skill_parses(page, line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("kernel.cu", "kernel.py", "my_kernel.cu", "ref.py"):
        (tmp_path / name).touch()
    try:
        command = parse(line)
    except click.ClickException as problem:
        pytest.fail(f"{page}: {line}: {problem.format_message()}")
    assert command.name in line.split()


def test_the_check_above_finds_wrong_commands():
    for line in ("kbs loop init k.cu --nonsense 3", "kbs nothing", "kbs experience mask"):
        with pytest.raises((click.ClickException, AssertionError)):
            parse(f"{line} --reason" if line.endswith("mask") else line)


def test_every_page_begins_with_its_name_and_what_it_is_for():
    assert set(PAGES) == {
        "SKILL.md",
        *(
            f"{part}/SKILL.md"
            for part in (
                *("baseline", "profiling", "bottlenecks"),
                *("knowledge", "benchmark", "restart"),
            )
        ),
    }
    for name, text in PAGES.items():
        front = re.match(r"---\nname: ([a-z-]+)\ndescription: (.{40,})\n---\n", text)
        assert front, name
        assert len(front[2]) < 1024


def test_links_between_pages_resolve():
    for name, text in PAGES.items():
        base = name.rpartition("/")[0]
        for target in re.findall(r"\]\(([^)]+)\)", text):
            assert "/".join(filter(None, (base, target))) in PAGES, (name, target)


def test_the_baseline_page_states_when_to_begin_when_to_end_and_what_is_forbidden():
    headings = re.findall(r"^## (.+)$", PAGES["baseline/SKILL.md"], re.MULTILINE)
    assert {"Entry criteria", "Exit criteria", "Forbidden"} <= set(headings)


def test_words_of_the_skill_are_those_of_the_program():
    assert "skill" in COMMANDS
    for verdict in VERDICTS:
        assert f"`{verdict}`" in PAGES["SKILL.md"]
    assert (ROOT / "kbs/skill/SKILL.md").is_file()


def test_it_is_installed_whole_and_again(kbs, tmp_path):
    ran = kbs("skill", "install", "--target", tmp_path / "skills", at=tmp_path / "home")
    assert ran.code == 0, ran.err
    for name, text in PAGES.items():
        assert (tmp_path / "skills/kbs" / name).read_text() == text
    assert kbs("skill", "install", "--target", tmp_path / "skills", at=tmp_path / "home").code == 0


def test_changed_pages_are_not_written_over(tmp_path):
    from kbs.commands.skill import install

    install(tmp_path)
    page = tmp_path / "kbs/SKILL.md"
    page.write_text("mine")
    with pytest.raises(RefusedError, match="1 files differ"):
        install(tmp_path)
    assert page.read_text() == "mine"
    install(tmp_path, force=True)
    assert page.read_text() == PAGES["SKILL.md"]
