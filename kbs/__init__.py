"""kbs: evidence-based optimization of GPU kernels, at a terminal."""

from kbs_engine import __version__

__all__ = ["__version__"]
