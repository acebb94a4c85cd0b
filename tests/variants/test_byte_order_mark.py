"""A source with a byte order mark is read and written as one without."""

from kbs_backends.variants import read_marks, write_variant

PLAIN = """import triton

BLOCK = 128  # kbs:tunable 64,128,256
ROWS = (4)  # kbs:tunable 2,4


def run_kernel(x, **_):
    pass
"""


def test_a_byte_order_mark_shifts_nothing():
    assert read_marks("\ufeff" + PLAIN, "triton") == read_marks(PLAIN, "triton")
    chosen = {"BLOCK": 256, "ROWS": 2}
    written = write_variant("\ufeff" + PLAIN, "triton", chosen, {})
    assert written == "\ufeff" + write_variant(PLAIN, "triton", chosen, {})
