"""Spellings of units over the years."""

from __future__ import annotations

import pytest

from kbs_ingest.readers.vendor_units import Unit, fits, parse_unit


@pytest.mark.parametrize(
    ("text", "quantity", "factor"),
    [
        ("ns", "ns", 1), ("nsecond", "ns", 1), ("us", "ns", 1e3), ("usecond", "ns", 1e3),
        ("ms", "ns", 1e6), ("msecond", "ns", 1e6), ("s", "ns", 1e9), ("second", "ns", 1e9),
        ("byte", "bytes", 1), ("Kbyte", "bytes", 1e3), ("Mbyte", "bytes", 1e6),
        ("Gbyte", "bytes", 1e9), ("Tbyte", "bytes", 1e12), ("Kbyte/block", "bytes", 1e3),
        ("byte/sector", "bytes", 1), ("byte/s", "bytes_per_s", 1),
        ("Gbyte/second", "bytes_per_s", 1e9), ("Tbyte/s", "bytes_per_s", 1e12),
        ("byte/nsecond", "bytes_per_s", 1e9), ("hz", "hz", 1), ("Khz", "hz", 1e3),
        ("Mhz", "hz", 1e6), ("Ghz", "hz", 1e9), ("cycle/nsecond", "hz", 1e9),
        ("cycle/usecond", "hz", 1e6), ("cycle/second", "hz", 1), ("%", "pct", 1),
        ("inst", "plain", 1), ("", "plain", 1), ("register/thread", "plain", 1),
        ("inst/cycle", "plain", 1), ("sector/ns", "plain_per_s", 1e9), (" us ", "ns", 1e3),
    ],
)  # fmt: skip
def test_known(text, quantity, factor):
    assert parse_unit(text) == Unit(quantity, pytest.approx(factor))


@pytest.mark.parametrize(
    "text", ["Kibyte", "KB", "min", "%/Kbyte", "bytes per s", "/s", "ns/", "x"]
)
def test_unknown_is_never_guessed(text):
    assert parse_unit(text) is None


def test_fits():
    assert fits(parse_unit("us"), "ns")
    assert not fits(parse_unit("us"), "bytes")
    assert not fits(parse_unit("byte"), "pct")
    assert fits(parse_unit(""), "pct")
    assert not fits(parse_unit(""), "ns")
