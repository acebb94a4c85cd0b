"""Tasks: references, inputs, tolerances, comparison, dummies, work.

Torch is imported only when a function is called. References are the user's code: loading one
executes it.
"""

from kbs_backends.tasks.base import (
    Difference,
    Inputs,
    OutputSpec,
    PreparedRound,
    Reference,
    Tolerance,
)
from kbs_backends.tasks.comparing import compare, holds
from kbs_backends.tasks.distributions import DISTRIBUTIONS
from kbs_backends.tasks.dummies import degenerate, dummies, infinities
from kbs_backends.tasks.poison import POISONS, digest, poison
from kbs_backends.tasks.reference import load_reference

__all__ = [
    "DISTRIBUTIONS",
    "POISONS",
    "Difference",
    "Inputs",
    "OutputSpec",
    "PreparedRound",
    "Reference",
    "Tolerance",
    "compare",
    "degenerate",
    "digest",
    "dummies",
    "holds",
    "infinities",
    "load_reference",
    "poison",
]
