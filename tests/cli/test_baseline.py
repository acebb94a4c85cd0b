"""kbs baseline from outside, and the dims that every measuring command takes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbs.measuring.dims import read_dims
from kbs_engine.errors import UsageError

REFERENCE = """
import torch
def setup(M=8, N=40, **dims):
    return {"inputs": {"x": torch.randn(M, N), "y": torch.empty(M, N)}, "outputs": ["y"]}
def reference(x, y, **kwargs):
    y.copy_(torch.softmax(x, -1))
"""


@pytest.fixture
def ref(tmp_path):
    path = tmp_path / "ref.py"
    path.write_text(REFERENCE)
    return path


def test_a_kernel_is_written_and_told(kbs, ref, tmp_path):
    ran = kbs("baseline", str(ref), "--M=16", "-o", str(tmp_path / "k.py"), "--json")
    assert ran.code == 0, ran.err
    assert ran.json["origin"] == "template"
    assert ran.json["match"]["dims"] == {"M": 16, "N": 40}
    assert "def run_kernel" in (tmp_path / "k.py").read_text()


def test_the_command_that_checks_it_can_be_pasted(kbs_here, ref, tmp_path):
    ran = kbs_here("baseline", str(ref), "--M=16", "--N=8", "-o", str(tmp_path / "k.py"))
    assert f"kbs check {tmp_path / 'k.py'} --ref {ref} --dims M=16,N=8" in ran.out


def test_a_file_that_is_there_is_kept(kbs_here, ref, tmp_path):
    (tmp_path / "k.py").write_text("mine")
    ran = kbs_here("baseline", str(ref), "-o", str(tmp_path / "k.py"))
    assert ran.code == 2
    assert "--force" in ran.err
    assert (tmp_path / "k.py").read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "more", "wanted"),
    [
        ("k", (), ".py or .cu"),
        ("k.txt", (), ".py or .cu"),
        ("k.py", ("--language", "cuda-cpp"), ".cu"),
        ("k.cu", ("--language", "triton"), ".py"),
    ],
)
def test_a_name_by_which_no_kernel_is_known_is_refused(kbs_here, ref, tmp_path, name, more, wanted):
    ran = kbs_here("baseline", str(ref), "-o", str(tmp_path / name), *more)
    assert ran.code == 2
    assert f"ends with {wanted}" in ran.err
    assert not (tmp_path / name).exists()


def test_an_ending_of_the_other_language_is_told_once_the_language_is_known(
    kbs_here, ref, tmp_path
):
    ran = kbs_here("baseline", str(ref), "-o", str(tmp_path / "k.cu"))
    assert ran.code == 2
    assert "triton" in ran.err
    assert not (tmp_path / "k.cu").exists()


def test_a_transposed_operand_is_told(kbs_here, tmp_path):
    path = tmp_path / "ref.py"
    path.write_text(TURNED)
    ran = kbs_here("baseline", str(path), "-o", str(tmp_path / "k.py"))
    assert "matmul_nt: a is a, b is b, out is out (b transposed)" in ran.out


TURNED = """
import torch
def setup(M=8, N=40, K=16):
    return {"inputs": {"a": torch.randn(M, K), "b": torch.randn(N, K).t()}}
def reference(a, b):
    return a @ b
"""


def test_what_nothing_fits_is_a_no_with_reasons(kbs_here, tmp_path):
    (tmp_path / "ref.py").write_text(REFERENCE.replace("torch.softmax(x, -1)", "x.sort(-1)[0]"))
    ran = kbs_here("baseline", str(tmp_path / "ref.py"), "-o", str(tmp_path / "k.py"))
    assert ran.code == 1
    assert "sort is not elementwise" in ran.err


@pytest.mark.parametrize("body", ["x * 2", "torch.softmax(x, -1)"])
def test_nothing_is_written_for_dims_with_nothing_to_compare(kbs_here, tmp_path, body):
    (tmp_path / "ref.py").write_text(REFERENCE.replace("torch.softmax(x, -1)", body))
    ran = kbs_here("baseline", str(tmp_path / "ref.py"), "--M=0", "-o", str(tmp_path / "k.py"))
    assert ran.code == 2
    assert "there is nothing to compare" in ran.err
    assert not (tmp_path / "k.py").exists()


@pytest.mark.parametrize(
    ("dims", "free", "expected"),
    [
        (["M=4096,N=4_096"], [], {"M": 4096, "N": 4096}),
        (['{"M": 8, "causal": true}'], [], {"M": 8, "causal": True}),
        ([], ["--M=8", "--eps", "1e-5", "--kind=sum"], {"M": 8, "eps": 1e-5, "kind": "sum"}),
        (["M=8"], ["--M=8"], {"M": 8}),
    ],
)
def test_dims_are_read_in_every_form(dims, free, expected):
    assert read_dims(dims, free) == expected


@pytest.mark.parametrize(
    ("dims", "free"),
    [(["M"], []), (["M="], []), (["=3"], []), (["{"], []), (['{"M": [1]}'], []),
     (["M=1e3"], []), ([], ["--M=+2E+05"]), ([], ["M=3"]), ([], ["--M"]),
     ([], ["--M", "--N"]), (["M=1"], ["--M=2"])],
)  # fmt: skip
def test_what_is_no_dim_is_refused_with_the_form(dims, free):
    with pytest.raises(UsageError) as caught:
        read_dims(dims, free)
    assert caught.value.remedy


WHOLE = st.integers(min_value=-(2**63), max_value=2**63 - 1)


@given(st.dictionaries(st.from_regex(r"[A-Z][A-Z0-9_]{0,5}", fullmatch=True), WHOLE))
def test_whole_numbers_come_back_as_they_are(dims):
    text = ",".join(f"{name}={value}" for name, value in dims.items())
    assert read_dims([text]) == dims
