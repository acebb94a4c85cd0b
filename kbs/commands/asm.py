"""kbs asm: machine code of a kernel with signature verdicts; needs no GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kbs.context import Context, pass_context
from kbs.measuring.dims import FREE_DIMS, dims_options, read_dims
from kbs.paths import PathType
from kbs_engine.errors import UsageError
from kbs_engine.facts import Chip
from kbs_engine.vocabulary import LANGUAGE_ALIASES

if TYPE_CHECKING:
    from kbs_engine.signatures import Signature
    from kbs_ingest.store import Store

_FILE = PathType(dir_okay=False, exists=True)
_LANGUAGES = ("auto", "cuda-cpp", "cutlass", "triton", "cute-dsl", "flydsl", *LANGUAGE_ALIASES)


@click.command(
    "asm",
    context_settings=FREE_DIMS,
    epilog="Example: kbs asm kernel_triton.py --arch sm_90 --ref ref.py --M=4096 --N=4096 "
    "--method vectorized_access",
)
@click.argument("source", metavar="FILE", type=_FILE)
@click.option("--arch", default="", help="Target: sm_90a, sm_100a, gfx942… Default: the chip's.")
@click.option("--chip", "chip_name", help="GPU whose limits count. Default: one of the target.")
@click.option("--method", "methods", multiple=True, help="Method id to judge. Repeatable.")
@click.option("--before", type=_FILE, help="The version before: what is gone is judged by it.")
@click.option("--ref", "reference", type=_FILE, help="ref.py whose setup() gives the inputs.")
@click.option(
    "--language", "--implementation", "--backend", "language", default="auto",
    type=click.Choice(_LANGUAGES), help="Language of FILE. Default: read from the file.",
)  # fmt: skip
@click.option("--flag", "flags", multiple=True, help="Extra option for nvcc. Repeatable.")
@click.option("--text", "show_text", is_flag=True, help="Print the disassembly itself and end.")
@dims_options
@pass_context
def command(context: Context, *, source: Path, methods: tuple[str, ...], **given: Any) -> int:
    """Functions, loops, opcodes and resources of FILE, and which methods its opcodes prove.

    Python kernels are executed in a process of their own to see what they launch.
    Exit 1 when a method named with --method is refuted.
    """
    from kbs.assembling import Question, assemble, disassembly
    from kbs_backends.languages import Call, CompileCache

    with context.store() as store:
        chip = _chip(store, given["chip_name"], given["arch"])
        signatures = _signatures(store, methods)
    question = Question(
        source=source,
        arch=given["arch"] or _arch(chip),
        language=given["language"],
        call=Call(
            dims=read_dims(given["dims"], given["free"]),
            reference=given["reference"],
            unit_count=_units(chip),
        ),
        flags=given["flags"],
        before=given["before"],
    )
    cache = CompileCache(context.home / "cache" / "compile")
    if given["show_text"]:
        click.echo(disassembly(question, cache))
        return 0
    found = assemble(question, cache, signatures, chip)
    if context.json:
        from kbs.render.asm import assembly_shape

        context.print_json(assembly_shape(found))
    else:
        from kbs.render.asm import show_assembly

        show_assembly(context.console(), found, chip, named=bool(methods))
    refuted = methods and any(method.outcome == "refuted" for method in found.methods)
    return 1 if refuted else 0


def _chip(store: Store, name: str | None, arch: str) -> Chip | None:
    """The chip named, else the first of the target: limits of a block are those of the target."""
    if name is not None:
        chip = store.chip(name)
        if arch and arch not in (chip.arch, chip.arch.rstrip("a")):
            raise UsageError(
                f"{chip.name} is {chip.arch}, not {arch}", remedy="leave one of the two out"
            )
        return chip
    fitting = [chip for chip in store.chips() if chip.arch in (arch, f"{arch}a")]
    complete = [chip for chip in fitting if chip.number("unit_count") is not None]
    return next(iter(complete or fitting), None)


def _arch(chip: Chip | None) -> str:
    if chip is None:
        raise UsageError("the target is not known", remedy="give --arch sm_90a, or --chip h100_sxm")
    return chip.arch


def _units(chip: Chip | None) -> int | None:
    units = chip.number("unit_count") if chip else None
    return int(units) if units else None


def _signatures(store: Store, methods: Sequence[str]) -> Mapping[str, Signature]:
    """Signatures of the methods named, else all.

    Raises:
        UsageError: A method that nobody knows, or that has no signature.
    """
    files = store.signatures()
    known = {method.id for method in store.methods()}
    for method in methods:
        if method not in known:
            raise UsageError(f"no method {method!r}", remedy="kbs query TEXT finds methods")
        if method not in files:
            raise UsageError(
                f"{method} has no signature: opcodes cannot prove it",
                remedy="judge it by a measurement",
            )
    chosen = methods or tuple(files)
    return {method: files[method].signature for method in chosen}
