"""Citations that look like one: another slash, no space, digits and letters of other scripts."""

from __future__ import annotations

import pytest

from kbs_ingest.audit.scan import scan_text

PLACE = "gpu-wiki/hardware/nvidia/h100_sxm.md:L34"
BACKSLASHES = PLACE.replace("/", "\\")
ARABIC = PLACE.replace("34", "\u0663\u0664")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"memory_bandwidth: 3.35 TB/s <-{PLACE}", "ok"),
        (f"memory_bandwidth: 9.35 TB/s <-{PLACE}", "wrong_value"),
        (f"memory_bandwidth: 3.35 TB/s <- {BACKSLASHES}", "missing"),
        (f"memory_bandwidth: 3.\uff135 TB/s <- {PLACE}", "wrong_value"),
        (f"the memory_bandwidth is \u0663.\u0663\u0665 TB/s <- {PLACE}", "wrong_value"),
        (f"memory_bandwidth: 3.35 TB/s <- {ARABIC}", "wrong_value"),
        (f"mem\u043ery_bandwidth: 3.35 TB/s <- {PLACE}", "wrong_value"),
        (f"\u2022 gr\u00f6\u00dfe, \u00b5: memory_bandwidth: 3.35 TB/s <- {PLACE}", "ok"),
        (
            f"\u043f\u0430\u043c\u044f\u0442\u044c H100 SXM HBM3 bandwidth: 3.35 TB/s <- {PLACE}",
            "ok",
        ),
    ],
)
def test_every_near_citation_is_read_or_refused(judge, text, expected):
    (found,) = scan_text(f"{text}\n", ".md").citations
    assert judge.judge(found).verdict == expected
