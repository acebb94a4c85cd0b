"""A first correct kernel when the user has none."""

from kbs_backends.baseline.make import Baseline, fitting_templates, make_baseline

__all__ = ["Baseline", "fitting_templates", "make_baseline"]
