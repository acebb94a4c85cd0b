"""Chips under all their names, and what is near to a name that nobody knows."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from kbs_engine.errors import RefusedError
from kbs_ingest.store import Store
from kbs_ingest.store.near_chips import ChipName, named_alike, of_architecture
from kbs_ingest.wiki import load_wiki

ROOT = Path(__file__).resolve().parents[2]


SHIPPED_NAMES = [
    ("NVIDIA V100", ["v100_pcie", "v100_sxm2"]),
    ("GeForce RTX 3090 Ti", ["rtx_3090"]),
    ("b200 nvl", ["b200", "h100_nvl", "h200_nvl"]),
]


@cache
def shipped_names() -> tuple[ChipName, ...]:
    """All chips of the shipped wiki with their names."""
    chips = [page.chip for page in load_wiki([ROOT / "gpu-wiki"]).chips.values()]
    return tuple(
        ChipName(chip.id, chip.architecture, chip.arch, (chip.name, *chip.aliases))
        for chip in chips
    )


@pytest.mark.parametrize(
    "name", ["h100_sxm", "H100-SXM", "NVIDIA H100 80GB HBM3", "nvidia_h100_sxm5_80gb", " h100sxm "]
)
def test_a_chip_answers_to_its_names(small_store: Store, name: str) -> None:
    assert small_store.chip(name).id == "h100_sxm"


@pytest.mark.parametrize("name", ["H100", "h1", "nvidia"])
def test_a_shared_name_lists_its_candidates(small_store: Store, name: str) -> None:
    with pytest.raises(RefusedError, match="h100_pcie, h100_sxm"):
        small_store.chip(name)


@pytest.mark.parametrize("name", ["H999", "", "h100_sxn", "'; DROP TABLE chips; --"])
def test_an_unknown_chip_is_refused_not_approximated(small_store: Store, name: str) -> None:
    with pytest.raises(RefusedError) as caught:
        small_store.chip(name)
    assert "nothing is approximated" in caught.value.message
    assert caught.value.exit_code == 1
    if name == "h100_sxn":
        assert "h100_sxm" in caught.value.remedy


@pytest.mark.parametrize("name", ["sm_90a", "sm_90", "cc_9_0", "9.0", "Hopper", "compute_90"])
def test_an_architecture_lists_its_chips(small_store: Store, name: str) -> None:
    with pytest.raises(RefusedError, match="is an architecture") as caught:
        small_store.chip(name)
    assert "h100_pcie, h100_sxm" in caught.value.message


def test_an_unknown_name_says_where_the_names_stand(small_store: Store) -> None:
    with pytest.raises(RefusedError) as caught:
        small_store.chip("Tesla K80")
    assert caught.value.remedy == "`kbs specs` lists the GPUs that the wiki knows"


@pytest.mark.parametrize(("name", "near"), SHIPPED_NAMES)
def test_near_names_share_the_telling_words(name: str, near: list[str]) -> None:
    assert named_alike(name, shipped_names()) == near


def test_gfx_targets_are_architectures() -> None:
    assert "mi300x" in of_architecture("gfx942", shipped_names())
    assert of_architecture("300", shipped_names()) == []
