"""Mechanical rewrites: methods of the catalog carried out on the syntax tree of a kernel."""

from __future__ import annotations

from kbs_backends.rewrites.base import (
    Applies,
    NotApplicableError,
    Rewrite,
    RewriteSource,
)
from kbs_backends.rewrites.registry import all_rewrites

__all__ = ["Applies", "NotApplicableError", "Rewrite", "RewriteSource", "all_rewrites"]
