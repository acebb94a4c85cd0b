"""Languages: compile, show machine code, load. One module each behind one port."""

from kbs_backends.languages.base import (
    Built,
    Call,
    LanguageModule,
    Listings,
    Parameter,
    Runnable,
    Signature,
)
from kbs_backends.languages.cache import CacheKey, CompileCache

__all__ = [
    "Built",
    "CacheKey",
    "Call",
    "CompileCache",
    "LanguageModule",
    "Listings",
    "Parameter",
    "Runnable",
    "Signature",
]
