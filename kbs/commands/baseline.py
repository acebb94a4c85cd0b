"""kbs baseline: a first correct kernel from PyTorch code."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from kbs.context import Context, pass_context
from kbs.measuring.dims import FREE_DIMS, dims_options, read_dims
from kbs.paths import PathType
from kbs.subjects import LanguageType
from kbs_engine.durable import require_writable, write_whole
from kbs_engine.errors import UsageError

if TYPE_CHECKING:
    from kbs_backends.baseline import Baseline


@click.command(
    "baseline",
    context_settings=FREE_DIMS,
    epilog="Example: kbs baseline ref.py --dims M=4096,N=4096 --language triton -o kernel.py",
)
@click.argument("reference", type=PathType(exists=True, dir_okay=False))
@dims_options
@click.option(
    "--language", "--implementation", "--backend", "languages", multiple=True,
    type=LanguageType(), help="Wanted language, in order of preference. Default: Triton first.",
)  # fmt: skip
@click.option("--arch", default="", help="Architecture that the kernel must run on: sm_90a.")
@click.option("-o", "--output", type=PathType(), help="File to write. Default: kernel.*")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@pass_context
def command(
    context: Context,
    *,
    reference: Path,
    dims: tuple[str, ...],
    free: tuple[str, ...],
    languages: tuple[str, ...],
    arch: str,
    output: Path | None,
    force: bool,
) -> None:
    """Write a first kernel for a reference: from a template, else elementwise, else torch.compile.

    The reference is run. The kernel is as correct as its check says: run kbs check on it.
    Exit 1 when nothing fits, with every reason.
    """
    import torch

    from kbs_backends.baseline import make_baseline
    from kbs_backends.tasks import load_reference
    from kbs_ingest.wiki.examples import load_templates

    given = read_dims(dims, free)
    if output is not None:
        _can_be_written(output, languages or ("triton", "cuda-cpp"), force=force)
        require_writable(output.parent)
    found = make_baseline(
        load_reference(reference, given),
        load_templates(context.roots),
        languages=languages,
        arch=arch,
        device="cuda" if torch.cuda.is_available() else "cpu",
    )
    path = output or Path(f"kernel{found.suffix}")
    _can_be_written(path, (found.language,), force=force)
    write_whole(path, found.text)
    _show(context, found, path, _check_command(path, reference, given))


def _can_be_written(path: Path, languages: Sequence[str], *, force: bool) -> None:
    """UsageError for a file that is there, or whose ending is that of no kernel in a language."""
    from kbs_backends.languages import LANGUAGES

    endings = dict.fromkeys(one for name in languages for one in LANGUAGES[name].suffixes)
    if path.suffix not in endings:
        told = f"the name ends with {path.suffix}" if path.suffix else "the name has no ending"
        wanted = " or ".join(endings)
        raise UsageError(
            f"{told}, by which no {' or '.join(languages)} kernel is known", where=str(path),
            remedy=f"name a file that ends with {wanted}",
        )  # fmt: skip
    if path.exists() and not force:
        raise UsageError(
            "the file is there already", where=str(path), remedy="name another, or use --force"
        )


def _check_command(path: Path, reference: Path, dims: Mapping[str, Any]) -> str:
    words = ["kbs", "check", str(path), "--ref", str(reference)]
    if dims:
        words += ["--dims", ",".join(f"{name}={value}" for name, value in dims.items())]
    return shlex.join(words)


def _show(context: Context, found: Baseline, path: Path, check: str) -> None:
    if context.json:
        shape = {
            "file": str(path), "language": found.language, "origin": found.origin,
            "template": found.template or None, "tried": list(found.tried),
            "match": msgspec.to_builtins(found.match),
        }  # fmt: skip
        context.print_json(shape)
        return
    source = f"template {found.template}" if found.template else found.origin
    click.echo(f"{path}: {found.language}, from {source}")
    if found.match is not None:
        names = ", ".join(f"{role} is {name}" for role, name in found.match.names.items())
        turned = f" ({', '.join(found.match.turned)} transposed)" if found.match.turned else ""
        click.echo(f"  {found.match.op}: {names}{turned}")
    if context.verbosity > 0:
        for text in found.tried:
            click.echo(f"  not used: {text}")
    click.echo(f"  check it: {check}")
