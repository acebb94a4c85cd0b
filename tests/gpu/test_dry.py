"""The script of the GPU session runs through on the host device."""

from __future__ import annotations

import json

import pytest

from tests.gpu.record_measuring import PARTS, main


@pytest.mark.sweep
def test_parts_write_their_files_on_the_host(tmp_path):
    assert main(["--out", str(tmp_path), "--dry", "--seconds", "150",
                 "--part", "isolation,near_roof,power"]) == 0  # fmt: skip
    cost = json.loads((tmp_path / "isolation.json").read_text())
    assert cost["dry"] is True
    assert cost["data"]["median_after_the_first_s"] < cost["data"]["new_interpreter_s"]
    rows = json.loads((tmp_path / "near_roof.json").read_text())["data"]
    assert [row["reason"] for row in rows] == [None] * 4
    assert json.loads((tmp_path / "power.json").read_text())["data"]["points"]
    assert (tmp_path / "recording.txz").stat().st_size > 0


def test_a_part_that_is_none_is_told(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["--out", str(tmp_path), "--part", "nothing"])
    told = capsys.readouterr().err
    assert all(part in told for part in PARTS)
