"""What every command is given: global options, and how to print."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kbs.home import home_folder, wiki_roots
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
        from rich.console import Console

        return Console(highlight=False, soft_wrap=not sys.stdout.isatty())

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


def pass_context(function: F) -> F:
    """Give a command its ``Context``, and the ``--json`` option that every command has."""

    def wrapper(*args: Any, json: bool, **kwargs: Any) -> Any:
        context = click.get_current_context().find_object(Context)
        if context is None:
            context = Context()
        context.json = context.json or json
        return function(context, *args, **kwargs)

    option = click.option("--json", is_flag=True, help="Print one JSON document.")
    return option(update_wrapper(wrapper, function))  # type: ignore[return-value]
