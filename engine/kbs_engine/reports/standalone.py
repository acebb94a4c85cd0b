"""test_kernel.py of a run: a script that checks any version without kbs."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from kbs_engine.results import Checked
from kbs_engine.run.settings import Settings

_TEMPLATE: Final = "standalone_script.txt"
_BEGIN: Final = "# <settings>"
_END: Final = "# </settings>"


def standalone_test(settings: Settings, checked: Checked | None = None) -> str:
    """The script for these settings.

    ``checked`` is v0's check: its tolerance is used where the settings state none, so that the
    script holds a version to what the run held v0 to.
    """
    script = files("kbs_engine.reports").joinpath(_TEMPLATE).read_text(encoding="utf-8")
    before, _, rest = script.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}\n{_settings(settings, checked)}{_END}{after}"


def _settings(settings: Settings, checked: Checked | None) -> str:
    atol, rtol, scaled = settings.atol, settings.rtol, False
    if checked is not None and "derived" in checked.tolerance_from:
        scaled = atol is None and checked.atol is not None
    if checked is not None:
        atol = checked.atol if atol is None else atol
        rtol = checked.rtol if rtol is None else rtol
    values = {
        "SUFFIX": settings.kernel_suffix,
        "DIMS": settings.dims,
        "ATOL": atol,
        "RTOL": rtol,
        "SCALED": scaled,
        "OUTPUTS": settings.outputs,
        "PTR_SIZE": settings.ptr_size,
        "ROUNDS": 3,
    }
    return "".join(f"{name} = {value!r}\n" for name, value in values.items())
