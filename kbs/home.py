"""Where kbs keeps its index and finds its knowledge."""

from __future__ import annotations

import os
from pathlib import Path

from kbs_engine.errors import UsageError


def home_folder(option: Path | None) -> Path:
    """The home folder: ``--home``, else ``KBS_HOME``, else the platform's data folder."""
    if option is not None:
        return option
    named = os.environ.get("KBS_HOME")
    if named:
        folder = Path(named)
        if folder.exists() and not folder.is_dir():
            raise UsageError(
                "KBS_HOME is no folder", where=named, remedy="name a folder, or one to be made"
            )
        return folder
    from platformdirs import user_data_path

    return user_data_path("kbs", appauthor=False)


def shipped_wiki() -> Path:
    """The gpu-wiki that comes with kbs: inside the wheel, or beside the packages."""
    here = Path(__file__).resolve().parent
    for folder in (here / "gpu-wiki", here.parent / "gpu-wiki"):
        if folder.is_dir():
            return folder
    raise UsageError(
        "the shipped gpu-wiki is missing from this installation",
        where=str(here),
        remedy="install gpu-kbs again, or name a wiki with --wiki DIR",
    )


def wiki_roots(extra: tuple[Path, ...]) -> tuple[Path, ...]:
    """The shipped wiki and the overlays, in order of increasing precedence."""
    for folder in extra:
        if not folder.is_dir():
            raise UsageError(
                "no such wiki folder", where=str(folder), remedy="name an existing folder"
            )
    return (shipped_wiki(), *(folder.resolve() for folder in extra))
