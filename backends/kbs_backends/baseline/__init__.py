"""A first correct kernel when the user has none."""

from kbs_backends.baseline.make import Baseline, make_baseline

__all__ = ["Baseline", "make_baseline"]
