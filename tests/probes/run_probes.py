"""Compile every probe of every signature and compare the verdicts with what they must be.

A positive probe must be confirmed and a negative one refuted on every claimed target; an unclear
one must be not observable. Where a claim speaks of absence, the negative is the version before.
Run as a script for the whole table: `python -m tests.probes.run_probes [method …]`.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import yaml

from kbs_backends.disasm import parse_amdgcn, parse_sass
from kbs_backends.disasm.tools import DisassemblerFailure, disassemble_cubin, find_nvdisasm
from kbs_engine.signatures import FunctionListing, Signature, SignatureVerdict, verdict
from tests.probes.probe_marks import archs_of
from tests.probes.toolchain import (
    ROOT,
    CompileError,
    cached_text,
    compile_triton,
    content_key,
    cuda_version,
    default_cache,
    gencode,
    run_tool,
    triton_version,
)

SIGNATURES = ROOT / "gpu-wiki" / "signatures"
PROBES = SIGNATURES / "probes"


class ProbeResult(msgspec.Struct, frozen=True, kw_only=True):
    """One probe on one target."""

    probe: str
    expected: str
    verdict: SignatureVerdict

    @property
    def as_expected(self) -> bool:
        """True when the verdict is the one that the probe was written for."""
        return self.verdict.outcome == self.expected


def load_signatures(folder: Path = SIGNATURES) -> dict[str, Signature]:
    """Read every signature file; the method must equal the file name."""
    found: dict[str, Signature] = {}
    for path in sorted(folder.glob("*.yaml")):
        signature = msgspec.convert(yaml.safe_load(path.read_text()), Signature)
        if signature.method != path.stem:
            msg = f"{path}: method {signature.method!r} must equal the file name"
            raise CompileError(msg)
        found[signature.method] = signature
    return found


def observable_archs(signature: Signature) -> list[str]:
    """Return the targets on which a signature can be confirmed or refuted, in file order."""
    archs = dict.fromkeys(a for claim in signature.claims for a in claim.arch)
    return [a for a in archs if all(c.not_observable is None for c in signature.for_arch(a))]


def probes_for(signature: Signature, arch: str) -> Iterator[tuple[Path, str]]:
    """Yield the probe files that speak about a target, each with the outcome expected of it."""
    if signature.probes is None:
        return
    yield from _speaking(signature.probes.positive, arch, "confirmed")
    yield from _speaking(signature.probes.negative, arch, "refuted")


def unclear_for(signature: Signature, arch: str) -> Iterator[tuple[Path, str]]:
    """Yield the probe files that must be not observable on a target."""
    if signature.probes is not None:
        yield from _speaking(signature.probes.unclear, arch, "not_observable")


def before_of(signature: Signature, arch: str, expected: str) -> Path | None:
    """Return the version before of a positive probe: the first negative one of its target.

    Only claims of absence ask for it.
    """
    if expected != "confirmed" or not signature.needs_before:
        return None
    return next((path for path, want in probes_for(signature, arch) if want == "refuted"), None)


def _speaking(names: str | tuple[str, ...], arch: str, want: str) -> Iterator[tuple[Path, str]]:
    for name in (names,) if isinstance(names, str) else names:
        path = PROBES / name
        if _speaks_about(path, arch):
            yield path, want


def _speaks_about(path: Path, arch: str) -> bool:
    marked = archs_of(path.read_text())
    if marked:
        return arch in marked
    return arch.startswith("sm_") if path.suffix == ".cu" else arch.startswith("gfx")


def run_probe(
    signature: Signature, arch: str, path: Path, expected: str, cache: Path
) -> ProbeResult:
    """Compile and judge one probe; the kernel judged is the first function of the file."""
    earlier = before_of(signature, arch, expected)
    judged = verdict(
        signature,
        arch,
        _kernel(path, arch, cache),
        before=None if earlier is None else _kernel(earlier, arch, cache),
    )
    return ProbeResult(probe=path.name, expected=expected, verdict=judged)


def _kernel(path: Path, arch: str, cache: Path) -> FunctionListing:
    functions = listing(path, arch, cache)
    if not functions:
        msg = f"{path.name} for {arch}: the disassembly holds no function"
        raise CompileError(msg)
    return functions[0]


def run_signature(signature: Signature, archs: Iterable[str], cache: Path) -> list[ProbeResult]:
    """Run every probe of a signature on the targets given."""
    return [
        run_probe(signature, arch, path, expected, cache)
        for arch in archs
        for path, expected in (*probes_for(signature, arch), *unclear_for(signature, arch))
    ]


def listing(path: Path, arch: str, cache: Path) -> tuple[FunctionListing, ...]:
    """Return the parsed functions of a probe; text is cached by source, target and tool."""
    text = path.read_text()
    tool = cuda_version() if path.suffix == ".cu" else triton_version()
    key = content_key(text, arch, tool)
    make = _compile_cuda if path.suffix == ".cu" else compile_triton
    made = cached_text(cache, key, lambda: make(path, arch))
    return parse_amdgcn(made) if arch.startswith("gfx") else parse_sass(made)


def _compile_cuda(path: Path, arch: str) -> str:
    nvdisasm = find_nvdisasm()
    if nvdisasm is None:
        msg = (
            "nvdisasm was not found: install the CUDA toolkit or `pip install nvidia-cuda-nvdisasm`"
        )
        raise CompileError(msg)
    with TemporaryDirectory() as folder:
        cubin = Path(folder) / "probe.cubin"
        run_tool(["nvcc", "-cubin", "-O3", *gencode(arch), "-o", str(cubin), str(path)])
        text = disassemble_cubin(nvdisasm, cubin)
    if isinstance(text, DisassemblerFailure):
        msg = f"{path.name} for {arch}: nvdisasm ended with {text.returncode}: {text.stderr}"
        raise CompileError(msg)
    return text


def main(methods: Sequence[str]) -> int:
    """Print one line per method and target; exit 1 when a verdict differs from what is asked."""
    wrong = 0
    for name, signature in load_signatures().items():
        if methods and name not in methods:
            continue
        for arch in observable_archs(signature):
            wrong += _report(signature, arch)
    return 1 if wrong else 0


def _report(signature: Signature, arch: str) -> int:
    try:
        results = run_signature(signature, [arch], default_cache())
    except CompileError as error:
        print(f"ERROR {signature.method} {arch}: {error}")
        return 1
    missing = {"confirmed", "refuted"} - {r.expected for r in results}
    bad = [r for r in results if not r.as_expected]
    for result in bad:
        judged = result.verdict
        print(f"WRONG {signature.method} {arch} {result.probe}: {judged.outcome}, {judged.reason}")
    if missing:
        print(
            f"WRONG {signature.method} {arch}: no probe that must be {' or '.join(sorted(missing))}"
        )
    if not bad and not missing:
        print(f"ok    {signature.method} {arch} ({len(results)} probes)")
    return len(bad) + len(missing)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
