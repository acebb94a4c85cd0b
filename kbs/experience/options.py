"""Options that the experience commands share, with the older names beside ours."""

from __future__ import annotations

from typing import Any

import click

from kbs.context import Context
from kbs.subjects import DayType, LanguageType
from kbs_engine.errors import KbsError
from kbs_engine.experience.legacy import limiter_of
from kbs_engine.partial_words import family_of
from kbs_engine.vocabulary import FAMILIES, LIMITER_ALIASES, LIMITERS, VERDICTS
from kbs_ingest.experience import Lore


class FamilyType(click.ParamType):  # type: ignore[type-arg]  # generic in newer stubs only
    """A kernel family, or words that name one."""

    name = "kernel"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """The family id or fail with the list."""
        key = str(value).strip().casefold().replace("-", "_").replace(" ", "_")
        found = key if key in FAMILIES else family_of(str(value))
        if found is None:
            self.fail(f"{value!r} is none of {', '.join(FAMILIES)}", param, ctx)
        return found


class LimiterType(click.ParamType):  # type: ignore[type-arg]  # generic in newer stubs only
    """A limiter or one of the older words."""

    name = "limiter"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """The limiter id or fail with the list."""
        found = limiter_of(str(value))
        if found == "unknown" and str(value).casefold() != "unknown":
            words = ", ".join([*LIMITERS, *LIMITER_ALIASES])
            self.fail(f"{value!r} is none of {words}", param, ctx)
        return found


kernel_option = click.option("--kernel", type=FamilyType(), help="Kernel family, e.g. softmax.")
language_option = click.option(
    "--language", "--implementation", "--backend", type=LanguageType(), help="E.g. triton."
)
chip_option = click.option("--chip", help="GPU id or alias, or an architecture such as sm_90.")
limiter_option = click.option(
    "--limiter", "--bottleneck", type=LimiterType(), help="E.g. dram, or memory_bound."
)
method_option = click.option("--method", "--optimization", help="Method id or title.")
origin_option = click.option("--origin", help="Only records of this team or machine.")


def filter_options(function: Any) -> Any:
    """The options that choose outcomes."""
    verdict = click.option("--verdict", type=click.Choice(VERDICTS), help="What came of it.")
    since = click.option("--since", type=DayType(), help="Not before this date (YYYY-MM-DD).")
    run = click.option("--run", help="Only outcomes of this run.")
    limit = click.option("--limit", type=click.IntRange(1), default=20, show_default=True)
    every = click.option(
        "--all", "every", is_flag=True, help="Masked and quarantined ones too, each with its why."
    )
    options = (
        method_option, kernel_option, language_option, chip_option, limiter_option, verdict,
        origin_option, run, since, every, limit,
    )  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


def lore_of(context: Context) -> Lore:
    """Names and bounds of the wiki: from the index, else from the pages themselves."""
    try:
        with context.store() as store:
            return store.lore()
    except KbsError:
        from kbs_ingest.wiki.load import load_wiki

        return Lore.of_wiki(load_wiki(list(context.roots)))


def place_of(lore: Lore, chip: str | None) -> dict[str, str | None]:
    """Chip and arch by which outcomes are chosen: an architecture names all its chips."""
    if chip is None:
        return {"chip": None, "arch": None}
    known = lore.chip(chip)
    if known is not None:
        return {"chip": known.id, "arch": None}
    arch = lore.arch(chip)
    return {"chip": None, "arch": arch} if arch else {"chip": chip, "arch": None}
