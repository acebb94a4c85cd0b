"""Host devices that the whole suite shares."""

import pytest

from kbs_engine.blobs import BlobStore
from tests.attacks.suite import TIGHT, Bench


@pytest.fixture(scope="session")
def make_bench(tmp_path_factory):
    """A function that opens host devices, all closed at the end."""
    from kbs_backends.device.local import LocalDevice
    from kbs_backends.device.messages import Limits

    opened = []

    def make(off=(), tight=False):
        blobs = BlobStore(tmp_path_factory.mktemp("blobs"))
        limits = Limits(**TIGHT) if tight else None
        device = LocalDevice(blobs, kind="host", off=off, limits=limits)
        opened.append(device)
        return Bench(device, blobs)

    yield make
    for device in opened:
        device.close()


@pytest.fixture(scope="session")
def bench(make_bench):
    """All defences on."""
    return make_bench()


@pytest.fixture(scope="session")
def tight_bench(make_bench):
    """All defences on, small limits."""
    return make_bench(tight=True)
