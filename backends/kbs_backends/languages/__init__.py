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
from kbs_backends.languages.cuda_cpp import prebuilt_library
from kbs_backends.languages.detect import LANGUAGES, detect_language, language

__all__ = [
    "LANGUAGES",
    "Built",
    "CacheKey",
    "Call",
    "CompileCache",
    "LanguageModule",
    "Listings",
    "Parameter",
    "Runnable",
    "Signature",
    "detect_language",
    "language",
    "prebuilt_library",
]
