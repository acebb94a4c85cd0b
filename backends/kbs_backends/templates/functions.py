"""Functions that Triton has no accurate form of, written out for an elementwise kernel.

The obvious forms subtract nearly equal numbers near zero: ``2 sigmoid(2x) - 1`` has no correct
digit left at 1e-8. The rational approximations are those of the Cephes library (Moshier, 1984 to
2000, tanh.c and unity.c), exact to double precision; the same code serves fp32 and fp64.
"""

from __future__ import annotations

import re
from typing import Final

_SOURCES: Final[dict[str, str]] = {
    "_tanh": """
@triton.jit
def _tanh(x):
    z = x * x
    over = (-0.964399179425052238628 * z - 99.2877231001918586564) * z - 1614.68768441708447952
    under = ((z + 112.811678491632931402) * z + 2235.48839060100448583) * z + 4844.06305325125486048
    near = x + x * z * (over / under)
    size = tl.abs(x)
    far = 1.0 - 2.0 / (tl.exp(2.0 * size) + 1.0)
    return tl.where(size < 0.625, near, tl.where(x < 0, -far, far))
""",
    "_expm1": """
@triton.jit
def _expm1(x):
    z = x * x
    over = ((1.2617719307481059087798e-4 * z + 0.030299440770744196129956) * z + 1.0) * x
    under = (3.0019850513866445504159e-6 * z + 2.5244834034968410419224e-3) * z
    under = (under + 0.22726554820815502876593) * z + 2.0
    near = 2.0 * (over / (under - over))
    return tl.where(tl.abs(x) < 0.5, near, tl.exp(x) - 1.0)
""",
    "_log1p": """
@triton.jit
def _log1p(x):
    z = x * x
    over = (4.5270000862445199635215e-5 * x + 0.49854102823193375972212) * x
    over = ((over + 6.5787325942061044846969) * x + 29.911919328553073277375) * x
    over = ((over + 60.949667980987787057556) * x + 57.112963590585538103336) * x
    over = over + 20.039553499201281259648
    under = (x + 15.062909083469192043167) * x + 83.047565967967209469434
    under = ((under * x + 221.76239823736856465394) * x + 309.09872225312059774938) * x
    under = (under + 216.42788614495947685003) * x + 60.118660497603843919306
    near = x - 0.5 * z + x * (z * over / under)
    return tl.where((x > -0.29) & (x < 0.41), near, tl.log(1.0 + x))
""",
    "_sinh": """
@triton.jit
def _sinh(x):
    size = tl.abs(x)
    grown = _expm1(size)
    near = 0.5 * (grown + grown / (grown + 1.0))
    half = tl.exp(0.5 * size)  # exp(x) overflows before sinh(x) does
    far = 0.5 * half * half
    value = tl.where(size < 20.0, near, far)
    return tl.where(x < 0, -value, value)
""",
    "_cosh": """
@triton.jit
def _cosh(x):
    half = tl.exp(0.5 * tl.abs(x))  # exp(x) overflows before cosh(x) does
    return 0.5 * half * half + 0.5 / (half * half)
""",
    "_asinh": """
@triton.jit
def _asinh(x):
    size = tl.abs(x)
    value = _log1p(size + size * size / (1.0 + tl.sqrt(size * size + 1.0)))
    value = tl.where(size < 1e9, value, tl.log(size) + 0.693147180559945309417)
    return tl.where(x < 0, -value, value)
""",
    "_atanh": """
@triton.jit
def _atanh(x):
    size = tl.abs(x)
    value = 0.5 * _log1p(2.0 * size / (1.0 - size))
    return tl.where(x < 0, -value, value)
""",
    "_softplus": """
@triton.jit
def _softplus(x, beta, threshold):
    z = x * beta
    soft = (tl.maximum(z, 0.0) + _log1p(tl.exp(-tl.abs(z)))) / beta
    return tl.where(z > threshold, x, soft)
""",
}


def needed_functions(body: str) -> str:
    """Sources of those that ``body`` calls, each after those that it calls itself."""
    named: dict[str, None] = {}

    def visit(text: str) -> None:
        for name in re.findall(r"\b_[a-z0-9]+(?=\()", text):
            if name in _SOURCES and name not in named:
                visit(_SOURCES[name].split("(", 1)[1])
                named[name] = None

    visit(body)
    return "".join(f"\n{_SOURCES[name]}" for name in named)
