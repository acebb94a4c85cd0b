"""How words and single numbers reach the ranking."""

from __future__ import annotations

from datetime import date

import pytest

from kbs.partial import Advisor, Asked
from kbs_engine.recommend import TOLD_FIT, Options, recommend
from kbs_engine.situation import Situation

DAY = date(2026, 1, 31)


@pytest.fixture(scope="module")
def advisor(store):
    return Advisor(store)


def ranked(advisor, asked, **options):
    ready = advisor.ask(asked)
    chosen = Options(as_of=DAY, hints=ready.hints, **options)
    return recommend(ready.item, ready.knowledge, chosen).recommendations


def test_what_is_not_said_weighs_less_where_words_are_all(advisor):
    asked = Asked(text="rows of the shared tile start on the same bank")
    ready = advisor.ask(asked)
    told = recommend(ready.item, ready.knowledge, Options(as_of=DAY, hints=ready.hints))
    bare = recommend(ready.item, ready.knowledge, Options(as_of=DAY))
    plain = {row.method: row.fit_parts for row in bare.recommendations}
    assert told.recommendations[0].method in ("smem_padding", "smem_swizzle")
    for row in told.recommendations:
        for name, part in plain.get(row.method, {}).items():
            if name != "anti-strategy":
                assert row.fit_parts[name] == pytest.approx(part**TOLD_FIT)


def test_fit_is_still_the_product_of_its_parts(advisor):
    for row in ranked(advisor, Asked(text="many small kernels, launch gaps on the timeline")):
        product = 1.0
        for part in row.fit_parts.values():
            product *= part
        assert row.fit == pytest.approx(product)


def test_a_number_alone_is_searched_by_what_it_means(advisor):
    situation = Situation(family="gemm")
    few = Asked(metrics={"grid_size": 4.0}, situation=situation, text="slow")
    assert "unit" in advisor._meant({"grid_size": 4.0}, "gemm")
    names = [row.method for row in ranked(advisor, few)][:3]
    assert {"split_k", "smaller_block_tile", "grid_sizing"} & set(names)
    assert advisor._meant({}, "gemm") == ""
