"""The manifest is whole: files, codes, defences, and every published attack."""

from pathlib import Path

import pytest

from kbs_engine.refusals import DEFENCES, REASONS
from tests.attacks.cases import CASES
from tests.attacks.manifest import KERNELS, TASKS, TWIN_TASKS, TWINS, attacks, kernel

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = {
    *(f"T{i}" for i in range(1, 31)), *(f"R{i}" for i in range(1, 13)),
    *(f"M{i}" for i in range(1, 13)), *(f"S{i}" for i in range(1, 16)),
    *(f"B{i}" for i in range(1, 18)),
}  # fmt: skip
NO_GRADIENTS = {"S14"}
"""A missing backward pass: the product claims no gradients, so there is nothing to cheat on."""


def test_every_published_attack_is_there():
    ids = {attack.id for attack in attacks()}
    assert ids >= PUBLISHED - NO_GRADIENTS
    assert not ids & NO_GRADIENTS


def test_ids_are_unique():
    ids = [attack.id for attack in attacks()]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("attack", attacks(), ids=lambda attack: attack.id)
def test_a_row_names_what_exists(attack):
    assert bool(attack.file) + bool(attack.case) + bool(attack.test) == 1
    if attack.file:
        assert attack.path.is_file()
        assert (TASKS / f"{attack.task}.py").is_file()
        assert all(code in REASONS for code in attack.codes)
        assert attack.expect or attack.honest
    if attack.case:
        assert attack.case in CASES
        assert attack.expect
    if attack.test:
        assert (ROOT / attack.test.partition("::")[0]).is_file()
    assert all(kernel(TWINS, twin).is_file() for twin in attack.twin)
    assert not attack.without or DEFENCES[attack.without].how == "switch"
    assert not attack.naive or attack.naive in DEFENCES


def test_no_kernel_is_left_out():
    named = {attack.file for attack in attacks() if attack.file}
    assert {path.stem for path in KERNELS.iterdir() if path.suffix in (".py", ".cu")} == named


def test_no_task_is_left_out():
    named = {attack.task for attack in attacks()} | set(TWIN_TASKS.values())
    assert {path.stem for path in TASKS.glob("*.py")} == named
