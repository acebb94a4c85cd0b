"""Merging is set union, in memory and on disk, masks included."""

from __future__ import annotations

import random

from hypothesis import HealthCheck, given, settings

from kbs_engine.experience import Mask, Unmask, entry_of, union, visible, write_line
from kbs_engine.experience.merging import log_of
from kbs_ingest.experience import Lore, merge
from kbs_ingest.experience.places import experience_folder, list_segments
from kbs_ingest.experience.query import Reading
from tests.experience.records import logs, outcome


@given(logs(), logs(), logs())
def test_union_is_commutative_associative_and_idempotent(a, b, c):
    a, b, c = log_of(a), log_of(b), log_of(c)
    assert union(a, b) == union(b, a)
    assert union(union(a, b), c) == union(a, union(b, c))
    assert union(a, a) == a
    assert union(union(a, b), b) == union(a, b)


@given(logs(), logs())
def test_what_is_visible_does_not_depend_on_the_order_of_merging(a, b):
    a, b = log_of(a), log_of(b)
    assert visible(union(a, b)) == visible(union(b, a)) == visible(union(b, a, b))


@given(logs())
def test_a_mask_hides_and_its_unmask_shows_again(log):
    log = log_of(log)
    for id_ in [i for i, e in log.items() if not isinstance(e.record, (Mask, Unmask))]:
        mask = entry_of(Mask(targets=(id_,), reason="a test", measurement="new"), "a")
        hidden = union(log, {mask.id: mask})
        assert id_ not in visible(hidden)
        show = entry_of(Unmask(masks=(mask.id,)), "a")
        assert (id_ in visible(union(hidden, {show.id: show}))) == (id_ in visible(log))


def test_an_unmask_cancels_the_masks_it_names_and_no_other():
    target = entry_of(outcome(), "a")
    one, two = (entry_of(Mask(targets=(target.id,), reason="r", measurement=m), "a") for m in "12")
    show = entry_of(Unmask(masks=(one.id,)), "a")
    log = log_of([target, one, two, show])
    assert target.id not in visible(log)
    assert target.id in visible(log_of([target, one, show]))


def _state(home):
    """What a home says: each record's id, origin and state, whatever the files."""
    reading = Reading(home, Lore())
    rows = {(row.id, row.state) for row in reading.rows()}
    return rows, set(reading.marks)


def _write(path, entries):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(map(write_line, entries)))


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(logs(), logs(), logs())
def test_homes_that_merge_in_any_order_say_the_same(tmp_path_factory, a, b, c):
    base = tmp_path_factory.mktemp("laws")
    files = [base / f"{name}.jsonl" for name in "abc"]
    for path, log in zip(files, (a, b, c), strict=True):
        _write(path, log)
    orders = [files, files[::-1], [*files, files[0], files[1]]]
    found = []
    for number, order in enumerate(orders):
        home = base / f"home{number}"
        for path in order:
            merge(home, [path], lore=Lore(), origin="me")
        found.append(_state(home))
    nested = base / "nested"
    merge(nested, [files[1], files[2]], lore=Lore(), origin="me")
    last = base / "last"
    merge(last, [files[0], *([nested] if nested.exists() else [])], lore=Lore(), origin="me")
    assert found[0] == found[1] == found[2] == _state(last)
    held = {row for row, _ in found[0][0]}
    ids = {entry.id for entry in (*a, *b, *c)}
    assert held | found[0][1] == ids


def test_a_second_merge_adds_nothing_and_grows_no_file(tmp_path):
    log = [entry_of(outcome(measurement=str(n)), f"o{n % 3}") for n in range(30)]
    random.Random(0).shuffle(log)
    _write(tmp_path / "log.jsonl", log)
    first = merge(tmp_path / "home", [tmp_path / "log.jsonl"], lore=Lore(), origin="me")
    folder = experience_folder(tmp_path / "home")
    sizes = {name: path.stat().st_size for name, path in list_segments(folder).items()}
    again = merge(tmp_path / "home", [tmp_path / "log.jsonl"], lore=Lore(), origin="me")
    assert (first.added, first.duplicates) == (30, 0)
    assert (again.added, again.duplicates) == (0, 30)
    assert sizes == {name: path.stat().st_size for name, path in list_segments(folder).items()}
    assert {name.split("/")[0] for name in sizes} == {"o0", "o1", "o2"}
