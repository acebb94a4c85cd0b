"""What every command is given: global options, and how to print."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kbs.home import home_folder, wiki_roots
from kbs.paths import AddressType, PathType
from kbs_engine.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from kbs_ingest.store import Store

F = TypeVar("F", bound=Callable[..., Any])


class Context:
    """Global options of one run."""

    def __init__(self) -> None:
        """Defaults: no overlay, text output, normal verbosity."""
        self.home_option: Path | None = None
        self.wikis: tuple[Path, ...] = ()
        self.json = False
        self.verbosity = 0

    @property
    def home(self) -> Path:
        """The home folder of this run."""
        return home_folder(self.home_option)

    @property
    def roots(self) -> tuple[Path, ...]:
        """The wiki folders of this run."""
        return wiki_roots(self.wikis)

    def store(self) -> Store:
        """The index of this run, open for reading."""
        from kbs_ingest.store import open_store

        store = open_store(self.home)
        if self.wikis:
            _same_roots(store, self.roots, self.home)
        return store

    def console(self) -> Console:
        """A console on stdout; respects NO_COLOR; lines are never folded into a pipe."""
        from kbs.terminal import make_console

        return make_console(soft_wrap=not sys.stdout.isatty())

    def print_json(self, value: object) -> None:
        """One JSON document on stdout."""
        import msgspec

        text = msgspec.json.format(msgspec.json.encode(value), indent=2)
        sys.stdout.write(text.decode() + "\n")


def _same_roots(store: Store, roots: tuple[Path, ...], home: Path) -> None:
    """An overlay that the index does not hold would silently go unused."""
    held = set(store.manifest.roots.values())
    missing = [str(root) for root in roots if str(root) not in held]
    if missing:
        raise UsageError(
            "the index does not hold this wiki",
            where=", ".join(missing),
            remedy=f"run kbs --home {home} --wiki DIR ingest first",
        )


def _check_numbers(options: dict[str, Any]) -> None:
    """UsageError for a number that no record can hold, whatever option it was given to."""
    from kbs_engine.numerals import shortened, storable

    for name, value in options.items():
        if not storable(value):
            raise UsageError(
                f"{shortened(value)} is no number that can be used",
                where=f"--{name.replace('_', '-')}",
                remedy="give a number of at most 64 bits, neither infinite nor nan",
            )


def _check_text(command: click.Command, options: dict[str, Any]) -> None:
    """UsageError for text with bytes that are no UTF-8; paths and addresses may hold any."""
    places = {
        param.name for param in command.params if isinstance(param.type, click.Path | AddressType)
    }
    for name, value in options.items():
        texts = value if isinstance(value, tuple) else (value,)
        if name not in places and any(isinstance(text, str) and _stray(text) for text in texts):
            raise UsageError(
                "argument is no valid UTF-8",
                where=name.replace("_", "-"),
                remedy="write it in UTF-8; only paths may hold any bytes",
            )


def _stray(text: str) -> bool:
    """Whether the text stands for bytes that are no UTF-8, or for half a character."""
    return any("\ud800" <= letter <= "\udfff" for letter in text)


def pass_context(function: F) -> F:
    """Give a command its ``Context``, and the options that may stand after its name too."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        here = click.get_current_context()
        _check_text(here.command, here.params)
        context = here.find_object(Context)
        if context is None:
            context = Context()
        context.json = kwargs.pop("json") or context.json
        home, wikis = kwargs.pop("home_after"), kwargs.pop("wikis_after")
        verbose, quiet = kwargs.pop("verbose_after"), kwargs.pop("quiet_after")
        context.home_option = home or context.home_option
        context.wikis = (*context.wikis, *wikis)
        if verbose or quiet:
            context.verbosity = -1 if quiet else verbose
        _check_numbers(kwargs)
        return function(context, *args, **kwargs)

    wrapped: Any = update_wrapper(wrapper, function)
    for option in (
        click.option("--json", is_flag=True, help="Print one JSON document."),
        click.option("--home", "home_after", type=PathType(), hidden=True),
        click.option("--wiki", "wikis_after", type=PathType(), multiple=True, hidden=True),
        click.option("-v", "--verbose", "verbose_after", count=True, hidden=True),
        click.option("-q", "--quiet", "quiet_after", is_flag=True, hidden=True),
    ):
        wrapped = option(wrapped)
    return wrapped  # type: ignore[no-any-return]
