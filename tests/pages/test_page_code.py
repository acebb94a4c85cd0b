"""The code on method pages compiles: what changed and a sample of the week, or all of it.

`KBS_PAGES=all` compiles every block; the rest of these tests reads pages and compiles nothing.
"""

from __future__ import annotations

import os
import shutil
from functools import cache

import pytest

from tests.pages import page_code
from tests.pages.page_code import Block, read_blocks
from tests.probes.selection import changed_files, of_the_week, text_before
from tests.probes.toolchain import CompileError, default_cache

SAMPLE = {"cuda": 12, "triton": 6}
BLOCKS = {block.id: block for block in page_code.compilable_blocks()}

PAGE = """\
# Title
## When
```cuda
not code of the page
```
## How
### CUDA C++
```cuda
// kbs:arch sm_90a
__global__ void f() {}
```
### Triton
- in a list
  ```python
  # kbs:signature f(x="*fp32")
  ```
### HIP
```cpp
// kbs:not-compiled
```
## Verify
```python
also_not()
```
"""


def wanted() -> list[str]:
    """What this run compiles, each as ``block@target``; what changed for all of its targets."""
    every = {f"{id_}@{arch}": block for id_, block in BLOCKS.items() for arch in block.archs}
    if os.environ.get("KBS_PAGES") == "all":
        return list(every)
    chosen = {name for name, block in every.items() if block.digest not in before(block.page)}
    for language, count in SAMPLE.items():
        chosen |= of_the_week([i for i, b in every.items() if b.language == language], count)
    return sorted(chosen)


@cache
def before(page: str) -> frozenset[str]:
    """Digests of the blocks that a page had at the commit before; its own if it is unchanged."""
    path = page_code.ROOT / page
    changed = path in changed_files()
    blocks = read_blocks(text_before(path), page) if changed else page_code.blocks_of(path)
    return frozenset(block.digest for block in blocks)


@pytest.mark.compilers
@pytest.mark.slow
@pytest.mark.parametrize("name", wanted())
def test_code_on_the_page_compiles(name):
    id_, _, arch = name.partition("@")
    block = BLOCKS[id_]
    if block.language == "cuda" and shutil.which("nvcc") is None:
        pytest.skip("nvcc is needed to compile CUDA blocks")
    if block.language == "triton":
        pytest.importorskip("triton")
    page_code.compile_block(block, arch, default_cache())


def test_only_code_under_how_is_read_with_its_line():
    found = list(read_blocks(PAGE, "gpu-wiki/methods/memory/some.md"))
    assert [(b.language, b.line, b.skipped) for b in found] == [
        ("cuda", 9, False),
        ("triton", 15, False),
        (None, 19, True),
    ]
    assert found[0].archs == ["sm_90a"]
    assert found[0].id == "some:L9"


@pytest.mark.compilers
def test_a_fault_is_told_with_page_and_line(tmp_path):
    if shutil.which("nvcc") is None:
        pytest.skip("nvcc is needed")
    code = "__global__ void f(float* x) {\n  x[0] = nowhere;\n}\n"
    block = Block(page="m/some.md", method="some", line=70, fence="cuda", code=code)
    with pytest.raises(CompileError, match=r"some\.md\(71\): error: identifier \"nowhere\""):
        page_code.compile_block(block, "sm_80", tmp_path)


@pytest.mark.compilers
def test_a_fault_in_triton_is_told_with_the_line_of_the_page(tmp_path):
    pytest.importorskip("triton")
    code = (
        "import triton\nimport triton.language as tl\n"
        '# kbs:signature f(x="*fp32")\n@triton.jit\ndef f(x):\n    tl.store(x, nowhere)\n'
    )
    block = Block(page="m/some.md", method="some", line=70, fence="python", code=code)
    with pytest.raises(CompileError, match=r"(?s)some\.md:70: .*nowhere is not defined"):
        page_code.compile_block(block, "sm_90", tmp_path)


@pytest.mark.parametrize("path", page_code.pages(), ids=lambda path: path.stem)
def test_a_page_that_says_compiled_has_code_that_is_compiled(path):
    blocks = page_code.blocks_of(path)
    for block in blocks:
        assert block.language or block.skipped, (
            f"{block.page}:{block.line}: no compiler for a `{block.fence}` block;"
            " fence it as cuda or python, or begin it with kbs:not-compiled"
        )
    if page_code.status_of(path) != "cited":
        assert any(not block.skipped for block in blocks), (
            f"{path.name} claims that its code compiles and has no block that a test compiles"
        )
