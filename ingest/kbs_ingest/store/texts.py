"""What the embedding model reads of a piece of text."""

from __future__ import annotations

import hashlib
import re

from kbs_ingest.wiki.model import Chunk

MAX_CHARS = 420
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
_RULE = re.compile(r"^\s*\|[\s:|-]+\|\s*$", re.MULTILINE)


def embedding_text(chunk: Chunk) -> str:
    """Headings and the first prose; code is left to BM25, the model was not trained on it."""
    text = chunk.text.partition(";")[0] if chunk.kind == "spec" else chunk.text
    prose = _RULE.sub("", _FENCE.sub("", text))
    heading = " > ".join(chunk.heading) or chunk.title
    return f"{heading}\n{' '.join(prose.split())}"[:MAX_CHARS]


def has_meaning(chunk: Chunk) -> bool:
    """Whether a vector would say something: lists of sources are for BM25 alone."""
    return not chunk.heading or chunk.heading[-1] != "Sources"


def text_hash(text: str, model: str) -> str:
    """The key under which a vector is kept."""
    return hashlib.sha256(f"{model}\0{text}".encode()).hexdigest()
