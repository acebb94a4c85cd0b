"""The kernel and the reference of docs/kernels.md, checked as a reader would."""

from __future__ import annotations

import re

from tests.conftest import ROOT


def test_the_pages_own_examples_pass_their_check(kbs, tmp_path):
    page = (ROOT / "docs/kernels.md").read_text()
    reference, kernel = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "ref.py").write_text(reference)
    (tmp_path / "softmax.py").write_text(kernel)
    ran = kbs("check", tmp_path / "softmax.py", "--ref", tmp_path / "ref.py", "--dims",
              "M=8,N=64", "--device", "host", "--rounds", "2", at=tmp_path / "home")  # fmt: skip
    assert ran.code == 0, ran.out + ran.err
    assert "softmax.py  triton" in ran.out
