"""An empty name, as an unset variable leaves it, is refused wherever a place is named."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from kbs.cli import COMMANDS, cli
from kbs.paths import AddressType, PathType
from kbs_engine.errors import InputError
from kbs_ingest.experience.exchange import open_remote


def _commands(
    group: click.Group, above: tuple[str, ...] = ()
) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield " ".join((*above, name)), command
        if isinstance(command, click.Group):
            yield from _commands(command, (*above, name))


EVERY = [("", cli), *_commands(cli)]
PLACES = [
    pytest.param(param, id=f"{name} {param.name}".strip())
    for name, command in EVERY
    for param in command.params
    if isinstance(param.type, click.Path | AddressType)
]


def test_every_command_is_looked_at():
    assert {name.split()[0] for name, _ in EVERY if name} == set(COMMANDS)
    assert len(PLACES) > 40


@pytest.mark.parametrize("param", PLACES)
@pytest.mark.parametrize("text", ["", "  "])
def test_no_parameter_takes_an_empty_name(param, text):
    assert isinstance(param.type, PathType | AddressType)
    with pytest.raises(click.BadParameter, match="is empty"):
        param.type.convert(text, param, None)


def test_an_empty_target_exchanges_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "home"
    for words in (
        ("--home", "", "experience", "stats"),
        ("--home", str(home), "experience", "sync", ""),
        ("--home", str(home), "--wiki", "", "ingest"),
        ("--home", str(home), "ceiling", "--record", ""),
    ):
        ran = CliRunner().invoke(cli, list(words))
        assert ran.exit_code == 2, (words, ran.output)
        assert "is empty" in ran.output
    assert not list(tmp_path.rglob("*"))


@pytest.mark.parametrize("target", ["", " ", "file://", "s3://", "gs:///"])
def test_an_address_without_a_place_is_none(target):
    with pytest.raises(InputError, match="names no place"):
        open_remote(target)
