"""All rules over stored profiles in one query agree with the rules asked one by one."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kbs_engine.errors import StoreError
from kbs_engine.ports import Rows
from kbs_ingest.rules.evaluate import Condition, RuleSet
from kbs_ingest.rules.stored import columns_of, store_profiles, tally

RULES = (
    Condition(id="busy", needs=("p.dram_pct",), when="p.dram_pct > 80"),
    Condition(
        id="both", needs=("p.dram_pct", "h.unit_count"), optional=("w.dtype",),
        when="p.dram_pct < h.unit_count AND coalesce(w.dtype, 'fp32') = 'fp32'",
    ),
)  # fmt: skip
VALUE = st.none() | st.floats(0, 200) | st.just(float("nan"))


def rows_of(dram, units, dtype):
    return Rows(p={"dram_pct": dram}, c={}, w={"dtype": dtype}, h={"unit_count": units})


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(st.builds(rows_of, VALUE, VALUE, st.sampled_from([None, "fp32", "fp16"])), max_size=8)
)
def test_the_tally_is_that_of_single_rows(tmp_path, rows):
    path = tmp_path / "profiles.parquet"
    store_profiles(path, rows, columns_of(RULES))
    answers = RuleSet(RULES).evaluate(rows)
    for n, found in enumerate(tally(path, RULES)):
        said = [answer[n].fired for answer in answers]
        assert found.id == RULES[n].id
        assert found.fired == said.count(True)
        assert found.quiet == said.count(False)
        assert found.not_measurable == said.count(None)


def test_a_column_that_the_file_lacks_is_absent(tmp_path):
    path = tmp_path / "old.parquet"
    store_profiles(path, [rows_of(90.0, 132.0, "fp32")] * 3, ("p.dram_pct",))
    busy, both = tally(path, RULES)
    assert (busy.fired, both.not_measurable) == (3, 3)


@pytest.mark.parametrize("content", [b"", b"PAR1 nothing", b"id,x\n1,2\n"])
def test_what_is_no_store_is_refused(tmp_path, content):
    path = tmp_path / "bad.parquet"
    path.write_bytes(content)
    with pytest.raises(StoreError) as fault:
        tally(path, RULES)
    assert fault.value.where == str(path)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(StoreError):
        tally(tmp_path / "none.parquet", RULES)
