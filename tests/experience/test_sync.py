"""Exchanging segments with a folder and with an object store."""

from __future__ import annotations

import os

import pytest

from kbs_engine.errors import InputError, StoreError
from kbs_engine.experience import entry_of, write_line
from kbs_ingest.experience import Lore, append
from kbs_ingest.experience.exchange import sync
from kbs_ingest.experience.places import experience_folder, list_segments
from kbs_ingest.experience.query import Reading
from tests.experience.records import outcome


def ids(home):
    return {row.id for row in Reading(home, Lore()).rows()}


def home_with(path, origin, *names):
    for name in names:
        append(path, [outcome(measurement=name)], origin=origin)
    return path


@pytest.fixture(scope="module")
def s3():
    """A local S3 server; the URL of a bucket in it."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    keep = {name: os.environ.get(name) for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")}
    os.environ |= {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    yield (
        lambda bucket: (
            f"s3://{bucket}/experience?endpoint_override={host}:{port}&scheme=http"
            "&allow_bucket_creation=true&region=us-east-1"
        ),
        f"{host}:{port}",
    )
    server.stop()
    for name, value in keep.items():
        if value is None:
            os.environ.pop(name)
        else:
            os.environ[name] = value


def make_bucket(endpoint, name):
    from pyarrow.fs import S3FileSystem

    S3FileSystem(
        endpoint_override=endpoint, scheme="http", access_key="test", secret_key="test",
        region="us-east-1", allow_bucket_creation=True,
    ).create_dir(name)  # fmt: skip


@pytest.fixture(params=["folder", "object store"])
def target(request, tmp_path):
    if request.param == "folder":
        return str(tmp_path / "shared")
    url, endpoint = request.getfixturevalue("s3")
    bucket = "bucket-" + "".join(c for c in tmp_path.name.lower() if c.isalnum())[-40:]
    make_bucket(endpoint, bucket)
    return url(bucket)


def test_two_homes_come_to_the_same_records(tmp_path, target):
    a = home_with(tmp_path / "a", "team-a", "1", "2")
    b = home_with(tmp_path / "b", "team-b", "3")
    first = sync(a, target)
    assert (len(first.sent), len(first.received)) == (1, 0)
    second = sync(b, target)
    assert (len(second.sent), len(second.received)) == (1, 1)
    third = sync(a, target)
    assert (len(third.sent), len(third.received), third.unchanged) == (0, 1, 1)
    assert ids(a) == ids(b)
    assert len(ids(a)) == 3
    quiet = sync(a, target)
    assert (quiet.sent, quiet.received, quiet.unchanged) == ((), (), 2)


def test_a_segment_that_grew_is_exchanged_whole(tmp_path, target):
    a = home_with(tmp_path / "a", "team-a", "1")
    sync(a, target)
    sync(tmp_path / "b", target)
    home_with(a, "team-a", "2")
    assert len(sync(a, target).sent) == 1
    assert len(sync(tmp_path / "b", target).received) == 1
    assert ids(a) == ids(tmp_path / "b")
    assert len(ids(a)) == 2


def test_what_an_append_has_begun_is_not_exchanged(tmp_path):
    a = home_with(tmp_path / "a", "team-a", "1")
    (path,) = list_segments(experience_folder(a)).values()
    with path.open("ab") as file:
        file.write(b'{"id":"half')
    sync(a, str(tmp_path / "shared"))
    (copy,) = list_segments(tmp_path / "shared").values()
    assert copy.read_bytes().endswith(b"}\n")


def test_an_edited_segment_costs_neither_side_a_record(tmp_path):
    a = home_with(tmp_path / "a", "team-a", "1")
    shared = tmp_path / "shared"
    sync(a, str(shared))
    (copy,) = list_segments(shared).values()
    other = write_line(entry_of(outcome(measurement="other"), "team-a"))
    copy.write_bytes(other + other.replace(b"other", b"third"))
    report = sync(a, str(shared))
    assert len(report.conflicts) == 1
    assert len(ids(a)) == 2
    assert len(sync(a, str(shared)).sent) == 1  # the other version, under its own name
    again = sync(a, str(shared))
    assert (again.sent, again.received, again.conflicts) == ((), (), ())
    assert sync(tmp_path / "b", str(shared)).rejected == ()
    assert ids(tmp_path / "b") == ids(a)


@pytest.mark.parametrize("made", ["experience", "index"])
def test_another_home_is_exchanged_with_as_a_home(tmp_path, made):
    a = home_with(tmp_path / "a", "team-a", "1")
    b = tmp_path / "b"
    (b / made).mkdir(parents=True)
    assert len(sync(a, str(b)).sent) == 1
    assert ids(b) == ids(a)
    assert list(b.glob("*/*.jsonl")) == []


@pytest.mark.parametrize("name", ["a/b/c.jsonl", "..x/y.jsonl", "a/.hidden/x.jsonl", "a/b c.jsonl"])
def test_names_that_lead_elsewhere_are_rejected(tmp_path, name):
    path = tmp_path / "shared" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(write_line(entry_of(outcome(), "x")))
    report = sync(tmp_path / "home", str(tmp_path / "shared"))
    assert report.received == ()
    assert [bad.file for bad in report.rejected] == [name]


def test_a_bad_line_from_elsewhere_stops_nothing(tmp_path):
    shared = tmp_path / "shared" / "x"
    shared.mkdir(parents=True)
    good = write_line(entry_of(outcome(), "x"))
    (shared / "s.jsonl").write_bytes(b"\xff\xfe not json\n" + good)
    assert len(sync(tmp_path / "home", str(tmp_path / "shared")).received) == 1
    assert len(ids(tmp_path / "home")) == 1


def test_a_write_that_fails_leaves_the_other_side_whole(tmp_path, monkeypatch):
    a = home_with(tmp_path / "a", "team-a", "1")
    shared = tmp_path / "shared"
    sync(a, str(shared))
    before = {path: path.read_bytes() for path in list_segments(shared).values()}
    home_with(a, "team-a", "2")
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(StoreError, match="No space left"):
        sync(a, str(shared))
    monkeypatch.undo()
    assert {path: path.read_bytes() for path in list_segments(shared).values()} == before
    assert not list(shared.rglob(".*jsonl*"))
    sync(a, str(shared))
    assert sync(tmp_path / "b", str(shared)).received


@pytest.mark.parametrize("url", ["nonsense://x/y", "s3://no such/x"])
def test_a_target_that_is_none_is_told(tmp_path, url):
    with pytest.raises(InputError) as caught:
        sync(tmp_path / "home", url)
    assert caught.value.where == url


def test_a_file_is_no_target(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is no folder"):
        sync(tmp_path / "home", str(tmp_path / "file"))
