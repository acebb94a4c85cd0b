"""Recordings keep what the manifest promises, and the page says what they say."""

import pytest

from tests.attacks.manifest import attacks
from tests.attacks.page import PAGE, page
from tests.attacks.recording import recordings, without_paths


def test_the_page_is_generated():
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.attacks.page"


@pytest.mark.parametrize("recording", recordings(), ids=lambda r: r.name)
def test_nothing_got_through_and_no_twin_was_refused(recording):
    assert [f"{row.id}: {row.wrong}" for row in recording.rows if row.wrong] == []


@pytest.mark.parametrize("recording", recordings(), ids=lambda r: r.name)
def test_recorded_rows_are_those_of_the_manifest(recording):
    known = {attack.id for attack in attacks()}
    for row in recording.rows:
        if row.kind == "attack":
            assert row.id in known
        if row.kind == "twin":
            assert len(row.outcomes) >= 3


@pytest.mark.parametrize("recording", recordings(), ids=lambda r: r.name)
def test_a_recording_names_no_folder_of_its_machine(recording):
    told = [outcome.detail for row in recording.rows for outcome in row.outcomes]
    assert [detail for detail in told if detail != without_paths(detail)] == []


def test_folders_are_left_out_and_names_stay():
    detail = (
        "/home/me/kbs-device-zfnk56xk/worker-3ibtctmx/k.py:19: cannot open /dev/shm/x in ref.py"
    )
    assert without_paths(detail) == "k.py:19: cannot open /dev/shm/x in ref.py"
    assert without_paths("denied: '/tmp/kbs-device-zfnk56x") == "denied: '"
    assert without_paths("5 of 10/20 elements, 1e-05 * |expected|") == (
        "5 of 10/20 elements, 1e-05 * |expected|"
    )
