"""Values of inputs: several distributions, none of which leaves the domain of setup().

Only floating inputs are redrawn: integers are indices, lengths and masks, whose valid values
only setup() knows. The domain of a floating input is read off what setup() drew: never
negative stays never negative, strictly positive stays so, values within [-1, 1] stay within it,
and what takes few distinct values (a mask) is left alone. One value everywhere is what weights and
biases of norms begin with: it is drawn up to half of itself around it, so that no kernel may leave
it out.
``domains = {"x": (low, high)}`` in ref.py says it outright.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from kbs_backends.tasks.arguments import once, repeats
from kbs_backends.tasks.base import Inputs, Reference

SETUP: Final = "setup"
_FEW_VALUES = 8
_SAMPLE = 65536
_HUGE = 1e30
_TINY, _OFFSET, _OUTLIER = 2.0**-10, 8.0, 16.0
_SPIKE, _SPIKES = 128.0, 8
"""exp() of it overflows in fp32. So few that two of them hardly ever meet in one dot product, where
they would cancel and leave honest kernels no digits."""


class Domain(msgspec.Struct, frozen=True, kw_only=True):
    """Where the values of one input lie."""

    low: float | None = None
    high: float | None = None
    fixed: bool = False
    zero: bool = True
    """Whether zero is a valid value."""


def _normal(x: Any, generator: Any) -> Any:
    return x.mean() + x.std() * _randn(x, generator)


def _large_offset(x: Any, generator: Any) -> Any:
    return _normal(x, generator) + _OFFSET * x.std()


def _spikes(x: Any, generator: Any) -> Any:
    """A few elements far out, on both sides in turn: what guards against overflow must work."""
    import torch

    drawn = _normal(x, generator).reshape(-1)
    count = min(_SPIKES, drawn.numel())
    size = (count,)
    places = torch.randint(drawn.numel(), size, generator=generator, device=generator.device)
    far = _SPIKE * x.std() * (1 + torch.rand(size, generator=generator, device=generator.device))
    far[1::2] *= -1
    drawn[places.to(drawn.device)] = far.to(drawn)
    return drawn.reshape(x.shape)


def _tiny_scale(x: Any, generator: Any) -> Any:
    return _normal(x, generator) * _TINY


def _signed_zeros(x: Any, generator: Any) -> Any:
    import torch

    chosen = torch.rand(x.shape, generator=generator, device=generator.device)
    drawn = _normal(x, generator)
    drawn = torch.where(chosen < 0.25, torch.zeros_like(drawn), drawn)  # noqa: PLR2004
    return torch.where(chosen < 0.125, -torch.zeros_like(drawn), drawn)  # noqa: PLR2004


def _structured_zeros(x: Any, generator: Any) -> Any:
    """Every third row and the second half of the last dimension of every fourth."""
    drawn = _normal(x, generator)
    if drawn.dim() == 0 or drawn.shape[-1] == 0:
        return drawn
    rows = drawn.view(-1, drawn.shape[-1]) if drawn.is_contiguous() else drawn.flatten(0, -2)
    if rows.dim() == 1:
        rows = rows.view(1, -1)
    rows[1::3] = 0
    rows[::4, rows.shape[-1] // 2 :] = 0
    return rows.reshape(drawn.shape)


def _outliers(x: Any, generator: Any) -> Any:
    import torch

    drawn = _normal(x, generator)
    chosen = torch.rand(x.shape, generator=generator, device=generator.device)
    return torch.where(chosen < 1 / 256, drawn * _OUTLIER, drawn)


_DRAWS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "normal": _normal,
    "large_offset": _large_offset,
    "spikes": _spikes,
    "tiny_scale": _tiny_scale,
    "signed_zeros": _signed_zeros,
    "structured_zeros": _structured_zeros,
    "outliers": _outliers,
}

DISTRIBUTIONS: Final[tuple[str, ...]] = (SETUP, *_DRAWS)
"""All distributions; ``setup`` keeps what setup() drew."""


_SLACK: Final = {"spikes": 64.0}
"""Far out a rounding of an exponent is many of its result: such inputs tell overflows and cuts."""


def slack(distribution: str) -> float:
    """By how much the tolerance is widened on inputs of a distribution."""
    return _SLACK.get(distribution, 1.0)


def redraw(
    inputs: Inputs, outputs: Sequence[str], distribution: str, seed: int,
    declared: Mapping[str, tuple[float, float]] | None = None,
) -> Inputs:  # fmt: skip
    """Inputs with their floating tensors drawn from ``distribution`` with ``seed``."""
    import torch

    if distribution == SETUP:
        return inputs
    draw = _DRAWS[distribution]
    made = dict(inputs)
    for number, (name, value) in enumerate(inputs.items()):
        if name in outputs or not isinstance(value, torch.Tensor):
            continue
        if not value.is_floating_point() or value.numel() == 0:
            continue
        cells = once(value)
        near = around(cells)
        domain = domain_of(cells, (declared or {}).get(name) or near)
        if domain.fixed:
            continue
        generator = torch.Generator(device=value.device).manual_seed(seed + 7919 * number)
        wide = cells.to(torch.float64 if value.dtype == torch.float64 else torch.float32)
        of = draw if near is None else _uniform(domain)
        drawn = within(of(wide, generator), wide, domain)
        fresh = torch.empty_like(cells)
        fresh.copy_(_representable(drawn, value.dtype))
        made[name] = fresh.expand(value.shape) if repeats(value) else fresh
    return made


def domain_of(value: Any, declared: tuple[float, float] | None) -> Domain:
    """The domain of one floating input, from what setup() drew or what ref.py declares."""
    import torch

    if declared is not None:
        low, high = declared
        return Domain(low=low, high=high, zero=low <= 0 <= high, fixed=low == high)
    flat = value.reshape(-1)
    sample = flat[:: max(1, flat.numel() // _SAMPLE)].to(torch.float32)
    distinct = sample.unique().numel()
    if not bool(torch.isfinite(sample).all()) or distinct <= min(_FEW_VALUES, flat.numel() - 1):
        return Domain(fixed=True)
    if flat.element_size() == 1:
        flat = flat.to(torch.float16)  # torch knows no extremes of fp8
    low, high = float(flat.min()), float(flat.max())
    inside = low >= -1 and high <= 1
    if low < 0:
        return Domain(low=-1.0, high=1.0) if inside else Domain()
    return Domain(low=low if low > 0 else 0.0, high=1.0 if inside else None, zero=low == 0)


def redrawn(
    reference: Reference, seed: int, device: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Inputs that distributions other than that of setup() draw anew; those of one value."""
    import torch

    written = {name for name in reference.output_names if name not in reference.reads_outputs}
    names, constant = [], []
    for name, value in reference.make_inputs(seed, SETUP, device).items():
        floating = isinstance(value, torch.Tensor) and value.is_floating_point()
        if name in written or not floating or not value.numel():
            continue
        cells = once(value)
        near = around(cells)
        if not domain_of(cells, reference.domains.get(name) or near).fixed:
            names.append(name)
            constant += [] if near is None else [name]
    return tuple(names), tuple(constant)


def around(value: Any) -> tuple[float, float] | None:
    """Where an input with one finite value everywhere is drawn; None for any other.

    Half of the value to either side, one half above zero; the largest numbers, which stand for
    infinity, stay.
    """
    import torch

    flat = value.reshape(-1)
    wide = flat.to(torch.float16) if flat.element_size() == 1 else flat
    if not bool(torch.isfinite(wide[0]) & (wide == wide[0]).all()):
        return None
    center = float(wide[0])
    if abs(center) > _HUGE:
        return (center, center)
    low, high = sorted((center / 2, center * 1.5)) if center else (0.0, 0.5)
    return (max(low, -1.0), min(high, 1.0)) if abs(center) <= 1 else (low, high)


def _uniform(domain: Domain) -> Callable[[Any, Any], Any]:
    """For values of no spread, which do not tell how far they may go: all of the domain."""
    import torch

    def draw(x: Any, generator: Any) -> Any:
        low, high = domain.low, domain.high
        if low is None or high is None or not math.isfinite(high - low):
            return x
        share = torch.rand(x.shape, generator=generator, device=x.device, dtype=x.dtype)
        return low + (high - low) * share

    return draw


def within(drawn: Any, original: Any, domain: Domain) -> Any:
    """``drawn`` brought back into the domain: mirrored at zero, then cut at its ends."""
    low, high = domain.low, domain.high
    if low is not None and low >= 0:
        drawn = drawn.abs()
    if not domain.zero:
        drawn = drawn.where(drawn != 0, original)
    if low is not None or high is not None:
        drawn = drawn.clamp(min=low, max=high)
    return drawn


def _randn(x: Any, generator: Any) -> Any:
    import torch

    return torch.randn(x.shape, generator=generator, device=x.device, dtype=x.dtype)


def _representable(drawn: Any, dtype: Any) -> Any:
    """Cut at the largest finite value of the dtype, so that no input is infinite."""
    import torch

    limit = torch.finfo(dtype).max
    return drawn.clamp(min=-limit, max=limit)
