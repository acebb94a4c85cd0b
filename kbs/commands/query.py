"""kbs query: search the knowledge base."""

from __future__ import annotations

import click

from kbs.context import Context, pass_context
from kbs.render.shapes import hit_shape
from kbs.subjects import LanguageType
from kbs.terminal import styled
from kbs_engine.errors import UsageError
from kbs_engine.vocabulary import METHOD_AXES


@click.command("query", epilog='Example: kbs query "bank conflicts in a transpose" --kind method')
@click.argument("text", nargs=-1, required=True)
@click.option(
    "--kind", "kinds", multiple=True, help="method, symptom, hardware, isa, … Repeatable."
)
@click.option("--arch", help="Only what holds on this architecture, for example sm_90a.")
@click.option("--language", type=LanguageType(), help="Only methods for this language.")
@click.option("--axis", type=click.Choice(METHOD_AXES), help="Only this axis.")
@click.option("--limit", type=click.IntRange(1, 200), default=10, show_default=True)
@pass_context
def command(
    context: Context,
    *,
    text: tuple[str, ...],
    kinds: tuple[str, ...],
    arch: str | None,
    language: str | None,
    axis: str | None,
    limit: int,
) -> None:
    """Hybrid search (words and meaning) over pages, rules and cases, with citations."""
    store = context.store()
    _known("--kind", kinds, store.kinds())
    if arch is not None:
        arch = store.lore().arch(arch) or arch
        _known("--arch", (arch,), store.archs())
    found = store.search(
        " ".join(text), kinds=kinds, arch=arch, language=language, axis=axis, limit=limit
    )
    if context.json:
        results = [hit_shape(hit) for hit in found.results]
        context.print_json({"results": results, "mode": found.mode, "note": found.note})
        return
    for hit in found.results:
        row = hit.chunk
        styled(" > ".join([row.title, *row.heading]), bold=True, nl=False)
        click.echo(f"  [{row.kind}]  gpu-wiki/{row.path}:L{row.line}  score {hit.score:.4f}")
        click.echo(f"  {_excerpt(row.text)}")
    if not found.results:
        click.echo("nothing found; drop a filter or use other words")
    if found.note:
        click.echo(f"({found.note})", err=True)


def _known(option: str, words: tuple[str, ...], known: tuple[str, ...]) -> None:
    """UsageError for a word by which nothing is filed."""
    for word in words:
        if word not in known:
            raise UsageError(
                f"{option} {word!r} is none of {', '.join(known)}", remedy="choose one of them"
            )


def _excerpt(text: str, width: int = 200) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= width else flat[: width - 1] + "…"
