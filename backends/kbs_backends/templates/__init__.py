"""Templates made into kernels of a task: matched by values, chosen by conditions, written out."""

from kbs_backends.templates.choose import Choice, choose_templates
from kbs_backends.templates.instance import Argument, arguments_of, instantiate
from kbs_backends.templates.match import Match, but_for_epsilon, find_matches
from kbs_backends.templates.ops import OPS, Op

__all__ = [
    "OPS",
    "Argument",
    "Choice",
    "Match",
    "Op",
    "arguments_of",
    "but_for_epsilon",
    "choose_templates",
    "find_matches",
    "instantiate",
]
