"""kbs: evidence-based optimization of GPU kernels, at a terminal."""

__version__ = "0.1.0"
