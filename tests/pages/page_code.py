"""Compile the code on method pages: every fenced block under `## How`.

CUDA blocks go through `nvcc -c`, Triton blocks through its cross-compiler.
A block's `kbs:arch` comment names its targets; without one it must compile for the defaults.
Run as a script for all pages or some: `python -m tests.pages.page_code [method …]`.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from markdown_it import MarkdownIt

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
    jobs,
    run_tool,
    triton_version,
)

METHODS = ROOT / "gpu-wiki" / "methods"
DEFAULT_ARCHS = {"cuda": ["sm_80"], "triton": ["sm_80", "sm_90a"]}
"""Triton takes other paths on the two: mma and pointers, or wgmma and descriptors."""
_LANGUAGES = {"cuda": "cuda", "python": "triton"}
_NOT_COMPILED = re.compile(r"^(?://|#)\s*kbs:not-compiled\b", re.MULTILINE)
_STATUS = re.compile(r"^status:\s*(?P<status>\w+)", re.MULTILINE)


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """One fenced block; `line` is the line of the page on which its code begins."""

    page: str
    method: str
    line: int
    fence: str
    code: str

    @property
    def id(self) -> str:
        """Name it in a test: the method and where the block begins."""
        return f"{self.method}:L{self.line}"

    @property
    def language(self) -> str | None:
        """`cuda` or `triton`; None for what no compiler here reads."""
        return _LANGUAGES.get(self.fence)

    @property
    def skipped(self) -> bool:
        """True when the page says that nothing compiles it."""
        return _NOT_COMPILED.search(self.code) is not None

    @property
    def archs(self) -> list[str]:
        """Return the targets that it must compile for."""
        return archs_of(self.code) or DEFAULT_ARCHS[self.language or "cuda"]

    @property
    def digest(self) -> str:
        """Address its code, wherever on the page it stands."""
        return content_key(self.fence, self.code)


def read_blocks(text: str, page: str) -> Iterator[Block]:
    """Yield the fenced blocks under `## How` of one page."""
    under_how = False
    tokens = MarkdownIt("commonmark").parse(text)
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "heading_open" and token.tag in {"h1", "h2"}:
            under_how = token.tag == "h2" and after is not None and after.content == "How"
        if token.type == "fence" and under_how and token.map is not None:
            yield Block(
                page=page,
                method=Path(page).stem,
                line=token.map[0] + 2,
                fence=token.info.strip(),
                code=token.content,
            )


def pages() -> list[Path]:
    """Return the method pages."""
    return sorted(METHODS.rglob("*.md"))


@cache
def blocks_of(path: Path) -> tuple[Block, ...]:
    """Return the blocks of a page of this repository; a page is read once."""
    return tuple(read_blocks(path.read_text(), path.relative_to(ROOT).as_posix()))


def compilable_blocks() -> list[Block]:
    """Return every block of every page that a compiler must accept."""
    return [b for path in pages() for b in blocks_of(path) if b.language and not b.skipped]


def status_of(path: Path) -> str:
    """Return the status that a page claims."""
    found = _STATUS.search(path.read_text())
    return found["status"] if found is not None else ""


def compile_block(block: Block, arch: str, cache: Path) -> None:
    """Compile a block for one target; CompileError says page and line in the compiler's words."""
    cuda = block.language == "cuda"
    make, tool = (_compile_cuda, cuda_version) if cuda else (_compile_triton, triton_version)
    key = content_key("page", block.digest, arch, tool())
    try:
        cached_text(cache, key, lambda: make(block, arch))
    except CompileError as error:
        msg = f"{block.page}:{block.line}: the {block.language} block for {arch}: {error}"
        raise CompileError(msg) from error


def _compile_cuda(block: Block, arch: str) -> str:
    with TemporaryDirectory() as folder:
        source = Path(folder) / f"{block.method}.cu"
        # the compiler then cites the page itself
        source.write_text(f'#line {block.line} "{block.page}"\n{block.code}')
        made = str(source.with_suffix(".o"))
        run_tool(["nvcc", "-c", *gencode(arch), "-o", made, str(source)])
    return "compiled"


def _compile_triton(block: Block, arch: str) -> str:
    with TemporaryDirectory() as folder:
        source = Path(folder) / f"{block.method}.py"
        # lines of a traceback are then lines of the page
        source.write_text("\n" * (block.line - 1) + block.code)
        compile_triton(source, arch)
    return "compiled"


class BlockResult(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one block for one target; `error` is None when it compiled."""

    block: Block
    arch: str
    error: str | None


def compile_all(blocks: Sequence[Block], cache: Path) -> list[BlockResult]:
    """Compile many blocks, some at once."""

    def attempt(job: tuple[Block, str]) -> BlockResult:
        block, arch = job
        try:
            compile_block(block, arch, cache)
        except CompileError as error:
            return BlockResult(block=block, arch=arch, error=str(error))
        return BlockResult(block=block, arch=arch, error=None)

    with ThreadPoolExecutor(jobs()) as pool:
        return list(pool.map(attempt, [(b, arch) for b in blocks for arch in b.archs]))


def modest_pages(results: Sequence[BlockResult]) -> list[str]:
    """Return the pages that claim `cited` though every CUDA and Triton block compiled."""
    compiled = {r.block.page for r in results} - {r.block.page for r in results if r.error}
    return [
        path.stem
        for path in pages()
        if path.relative_to(ROOT).as_posix() in compiled
        and status_of(path) == "cited"
        and not any(b.skipped and b.fence == "cuda" for b in blocks_of(path))
    ]


def main(methods: Sequence[str]) -> int:
    """Compile the pages asked for; print failures and pages that could claim more."""
    chosen = [b for b in compilable_blocks() if not methods or b.method in methods]
    results = compile_all(chosen, default_cache())
    failed = [r for r in results if r.error is not None]
    for result in failed:
        print(result.error)
    for method in modest_pages(results):
        print(f"{method} says `cited` and all its code compiles")
    print(f"{len(results) - len(failed)} of {len(results)} compiled")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
