"""kbs experience: the log of what methods did, and what it recommends."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import click
import msgspec

from kbs.context import Context, pass_context
from kbs.experience.options import (
    chip_option,
    filter_options,
    kernel_option,
    language_option,
    limiter_option,
    lore_of,
    method_option,
    place_of,
)
from kbs.paths import AddressType, PathType
from kbs.subjects import DayType, FiniteRange
from kbs_engine.days import read_day, today
from kbs_engine.errors import RefusedError, UsageError
from kbs_engine.vocabulary import DTYPES

TIME = FiniteRange(above_zero=True)


@click.group("experience", epilog="Example: kbs experience recommend --kernel softmax --chip H100")
@pass_context
def command(context: Context) -> None:
    """What methods did on measured kernels: record, merge, ask."""
    del context


@command.command("add", epilog="Example: kbs experience add outcome.json")
@click.argument("file", required=False, type=PathType(allow_dash=True))
@method_option
@click.option("--verdict", "--outcome", help="effective, ineffective, harmful, … or success, ….")
@kernel_option
@language_option
@chip_option
@click.option("--arch", help="Architecture, where the wiki does not know the chip.")
@limiter_option
@click.option("--dominant-stall", help="The largest stall, e.g. stall_long_scoreboard.")
@click.option("--dtype", type=click.Choice(DTYPES))
@click.option("--dims", help="M=4096,N=4096 or JSON.")
@click.option("--correct/--incorrect", default=None, help="Verdict of the correctness check.")
@click.option("--integrity/--no-integrity", default=None, help="Whether no trick was found.")
@click.option("--before-ns", type=TIME, help="Time without the method, in ns.")
@click.option("--after-ns", type=TIME, help="Time with it, in ns.")
@click.option("--speedup", type=TIME, help="Factor, where the times are not at hand.")
@click.option("--gain", type=float, help="Share of time returned, with --gain-low, --gain-high.")
@click.option("--gain-low", type=float)
@click.option("--gain-high", type=float)
@click.option("--predicted-gain", type=float, nargs=2, help="The interval that was foretold.")
@click.option("--baseline", help="The fastest library baseline, e.g. torch-compile.")
@click.option("--baseline-ns", type=TIME, help="Its time, in ns.")
@click.option("--metrics-before", help="NAME=VALUE,… or JSON.")
@click.option("--metrics-after", help="NAME=VALUE,… or JSON.")
@click.option("--tunables", help="What was chosen: NAME=VALUE,… or JSON.")
@click.option("--source", type=PathType(), help="The source, for its hash.")
@click.option("--run", help="Run that measured it.")
@click.option("--driver", help="Driver version.")
@click.option("--machine", help="Machine that measured it. Default: the origin.")
@click.option("--date", "day", type=DayType(measured=True), help="YYYY-MM-DD. Default: today.")
@click.option("--notes", help="Anything else.")
@click.option("--origin", help="Whose record it is. Default: this home.")
@pass_context
def add(context: Context, *, file: Path | None, origin: str | None, **options: Any) -> None:
    """Record what a method did: from FILE (JSON, `-` is stdin) or from options.

    A record needs its two verdicts, --correct or --incorrect and --integrity or
    --no-integrity; without them it is refused.
    """
    from kbs.experience.adding import (
        doubts_of,
        json_object,
        outcome_of_options,
        records_of_file,
        require,
    )
    from kbs_ingest.experience import append

    if file is not None:
        records = records_of_file(file)
    else:
        require(options)
        for name in ("dims", "metrics_before", "metrics_after", "tunables"):
            if options[name] is not None:
                options[name] = json_object(
                    options[name],
                    f"--{name.replace('_', '-')}",
                    numbers=name.startswith("metrics"),
                )
        options["date"] = options.pop("day")
        records = [outcome_of_options(options, lore_of(context))]
    ids = append(context.home, records, origin=origin)
    doubts = doubts_of(context.home, ids, records, lore_of(context))
    if context.json:
        doubted = [{"id": id_, "reason": why} for id_, why in doubts.items()]
        context.print_json({"added": list(ids), "quarantined": doubted})
    elif context.verbosity >= 0:
        for id_ in ids:
            click.echo(f"recorded {id_}")
            if id_ in doubts:
                click.echo(f"  quarantined, so it never counts: {doubts[id_]}")


@command.command(
    "recommend", epilog="Example: kbs experience recommend --kernel gemm --bottleneck memory_bound"
)
@kernel_option
@language_option
@chip_option
@limiter_option
@click.option("--top", type=click.IntRange(1, 500), default=8, show_default=True)
@click.option(
    "--as-of", type=DayType(future=True), help="Date at which outcomes are weighed (YYYY-MM-DD)."
)
@pass_context
def recommend(context: Context, *, top: int, as_of: str | None, **told: Any) -> None:
    """Methods by what they did on kernels like this, then those the wiki recommends."""
    from kbs.experience.recommending import advise_from_experience
    from kbs.render.experience import show_advice

    if not any(told.values()):
        raise UsageError(
            "nothing to recommend for", remedy="name --kernel, --language, --chip or --limiter"
        )
    with context.store() as store:
        advice = advise_from_experience(
            store, told, as_of=read_day(as_of or "") or today(), top=top
        )
    if context.json:
        context.print_json(msgspec.to_builtins(advice))
        return
    show_advice(context.console(), advice)


@command.command("list", epilog="Example: kbs experience list --kernel softmax --all")
@filter_options
@pass_context
def list_(context: Context, **options: Any) -> None:
    """Outcomes that count; with --all the masked and quarantined ones too."""
    _print_rows(context, (), options)


@command.command("search", epilog="Example: kbs experience search softmax vectorized")
@click.argument("words", nargs=-1, required=True)
@filter_options
@pass_context
def search(context: Context, *, words: tuple[str, ...], **options: Any) -> None:
    """Outcomes in whose fields, notes or id all WORDS stand."""
    _print_rows(context, tuple(word for text in words for word in text.split()), options)


def _print_rows(context: Context, words: tuple[str, ...], options: dict[str, Any]) -> None:
    from kbs.render.experience import row_shape, show_rows
    from kbs_ingest.experience.query import Reading, Wanted

    limit, every = options.pop("limit"), options.pop("every")
    lore = lore_of(context)
    options |= place_of(lore, options.pop("chip"))
    if options["method"]:
        options["method"] = lore.method(options["method"])
    states = () if every else ("counts",)
    wanted = msgspec.convert({**options, "words": words, "states": states}, Wanted)
    found = list(islice(Reading(context.home, lore).rows(wanted), limit + 1))
    if context.json:
        shown = [row_shape(row) for row in found[:limit]]
        context.print_json({"outcomes": shown, "more": len(found) > limit})
        return
    show_rows(context.console(), found[:limit], more=len(found) > limit, every=every)


@command.command("merge", epilog="Example: kbs experience merge team-a/experience old_log.json")
@click.argument("sources", nargs=-1, required=True, type=PathType())
@click.option("--origin", help="Whose the records are that do not say. Default: this home.")
@pass_context
def merge(context: Context, *, sources: tuple[Path, ...], origin: str | None) -> None:
    """Take in other logs: segments, folders of them, other homes, and older flat logs.

    Set union: any order, any number of times, the same log. A bad line never stops it.
    Exit 2 when there is nothing but bad lines.
    """
    from kbs.commands.ingest import Progress
    from kbs.render.experience import show_merge
    from kbs_ingest.experience import merge as merge_logs

    with Progress(context) as progress:
        report = merge_logs(
            context.home, sources, lore=lore_of(context), origin=origin, progress=progress
        )
    if context.json:
        context.print_json(msgspec.to_builtins(report))
    else:
        show_merge(context.console(), report)
    if report.understood_nothing:
        click.get_current_context().exit(2)


@command.command("sync", epilog="Example: kbs experience sync s3://team-bucket/experience")
@click.argument("target", type=AddressType())
@pass_context
def sync(context: Context, *, target: str) -> None:
    """Exchange segments with a folder or an object-store URL, both ways."""
    from kbs.render.experience import show_sync
    from kbs_ingest.experience.exchange import sync as exchange

    report = exchange(context.home, target)
    if context.json:
        context.print_json(msgspec.to_builtins(report))
        return
    show_sync(context.console(), report)


@command.command("stats", epilog="Example: kbs experience stats --no-plot")
@click.option("--plot/--no-plot", default=True, help="Bars in the terminal.")
@pass_context
def stats(context: Context, *, plot: bool) -> None:
    """Counts, methods, calibration of the predicted gains, and plots."""
    from kbs.render.experience import show_stats
    from kbs_ingest.experience.stats import stats as count

    found = count(context.home, lore_of(context))
    if context.json:
        context.print_json(msgspec.to_builtins(found))
        return
    show_stats(context.console(), found, plot=plot)


@command.command("mask", epilog="Example: kbs experience mask 3f2a91 --reason 'clock was locked'")
@click.argument("ids", nargs=-1)
@click.option("--reason", required=True, help="Why they must not count.")
@click.option("--origin", help="Every outcome of this team or machine.")
@click.option("--run", help="Every outcome of this run.")
@pass_context
def mask(
    context: Context, *, ids: tuple[str, ...], reason: str, origin: str | None, run: str | None
) -> None:
    """Take records out of every answer; the mask is a record too and merges like any."""
    from kbs.experience.masking import mask_records

    found = mask_records(
        context.home, lore_of(context), ids=ids, reason=reason, origin=origin, run=run
    )
    if context.json:
        context.print_json(found)
    elif context.verbosity >= 0:
        click.echo(f"masked {len(found['targets'])} records with {found['mask']}")


@command.command("unmask", epilog="Example: kbs experience unmask 91bc02")
@click.argument("ids", nargs=-1, required=True)
@click.option("--reason", default="", help="Why they count again.")
@pass_context
def unmask(context: Context, *, ids: tuple[str, ...], reason: str) -> None:
    """Cancel masks, by their ids or by the ids of records that they hide."""
    from kbs.experience.masking import unmask_records

    found = unmask_records(context.home, ids=ids, reason=reason)
    if context.json:
        context.print_json(found)
    elif context.verbosity >= 0:
        click.echo(f"cancelled {len(found['masks'])} masks with {found['unmask']}")


@command.command("export", epilog="Example: kbs experience export out.jsonl --kernel gemm")
@click.argument("file", type=PathType(allow_dash=True))
@filter_options
@pass_context
def export(context: Context, *, file: Path, **options: Any) -> None:
    """Write outcomes and masks as one segment that any home can merge; `-` is stdout.

    The filters choose outcomes; --limit does not hold here. Masks are always written.
    """
    from kbs_ingest.experience.export import export as write

    options.pop("limit")
    states = () if options.pop("every") else ("counts",)
    lore = lore_of(context)
    options |= place_of(lore, options.pop("chip"))
    count = write(context.home, lore, {**options, "states": states}, file)
    if context.json and str(file) != "-":
        context.print_json({"exported": count, "file": str(file)})
    elif count and str(file) != "-" and context.verbosity >= 0:
        click.echo(f"{count} records in {file}")
    if count == 0:
        raise RefusedError(
            "no record is like that, so nothing was written",
            remedy="widen the filters, or add --all",
        )
