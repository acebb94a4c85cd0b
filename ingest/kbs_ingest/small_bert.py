"""One text through a small BERT by NumPy: a question needs no torch.

Loading sentence-transformers takes seconds, which a command that asks one question cannot
afford. For the plain case (BERT, mean pooling, unit length) the forward pass is a page of
arithmetic; a test compares its vectors with those of sentence-transformers. Anything else
is left to the library.
"""

from __future__ import annotations

import importlib
import math
from pathlib import Path
from typing import Any, Protocol

import msgspec

from kbs_engine.decoding import decode_json


class _Config(msgspec.Struct):
    """The parts of config.json that the forward pass needs."""

    model_type: str
    hidden_act: str
    num_attention_heads: int
    num_hidden_layers: int
    layer_norm_eps: float = 1e-12


class _Module(msgspec.Struct):
    """One entry of modules.json."""

    type: str
    path: str


class _Pooling(msgspec.Struct):
    """The parts of the pooling config that decide."""

    pooling_mode_mean_tokens: bool = False
    pooling_mode_cls_token: bool = False
    pooling_mode_max_tokens: bool = False
    pooling_mode_mean_sqrt_len_tokens: bool = False
    pooling_mode_weightedmean_tokens: bool = False
    pooling_mode_lasttoken: bool = False


class TextEncoder(Protocol):
    """Turns one text into a unit vector."""

    def encode(self, text: str) -> list[float]:
        """The vector."""
        ...


def load(folder: Path, max_tokens: int) -> TextEncoder | None:
    """The encoder of a model folder, or None when the model or the packages do not fit."""
    try:
        config = decode_json((folder / "config.json").read_bytes(), _Config)
        modules = decode_json((folder / "modules.json").read_bytes(), list[_Module])
        if not _plain(folder, config, modules):
            return None
        tokenizers = importlib.import_module("tokenizers")
        tensors = importlib.import_module("safetensors.numpy")
        tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        weights = tensors.load_file(folder / "model.safetensors")
    except (OSError, msgspec.MsgspecError, ImportError):
        return None
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=max_tokens)
    return _Bert(config, tokenizer, weights)


def _plain(folder: Path, config: _Config, modules: list[_Module]) -> bool:
    kinds = [module.type.rpartition(".")[2] for module in modules]
    if kinds != ["Transformer", "Pooling", "Normalize"]:
        return False
    path = folder / modules[1].path / "config.json"
    pooling = decode_json(path.read_bytes(), _Pooling)
    only_mean = pooling == _Pooling(pooling_mode_mean_tokens=True)
    return (config.model_type, config.hidden_act) == ("bert", "gelu") and only_mean


class _Bert:
    """The forward pass (Devlin et al. 2018) for one sequence without padding."""

    def __init__(self, config: _Config, tokenizer: Any, weights: dict[str, Any]) -> None:
        self._np = importlib.import_module("numpy")
        self._erf = self._np.frompyfunc(math.erf, 1, 1)
        self._config = config
        self._tokenizer = tokenizer
        self._weights = weights

    def encode(self, text: str) -> list[float]:
        """The mean of the last layer's tokens, brought to unit length."""
        ids = self._tokenizer.encode(text).ids
        weights = self._weights
        x = weights["embeddings.word_embeddings.weight"][ids]
        x = x + weights["embeddings.position_embeddings.weight"][: len(ids)]
        x = x + weights["embeddings.token_type_embeddings.weight"][0]
        x = self._norm(x, "embeddings.LayerNorm")
        for number in range(self._config.num_hidden_layers):
            x = self._layer(x, f"encoder.layer.{number}")
        mean = x.mean(axis=0)
        vector: list[float] = (mean / self._np.linalg.norm(mean)).tolist()
        return vector

    def _layer(self, x: Any, name: str) -> Any:
        mixed = self._linear(self._attention(x, name), f"{name}.attention.output.dense")
        x = self._norm(x + mixed, f"{name}.attention.output.LayerNorm")
        wide = self._linear(x, f"{name}.intermediate.dense")
        erf = self._erf(wide / math.sqrt(2)).astype(wide.dtype)
        narrow = self._linear(0.5 * wide * (1 + erf), f"{name}.output.dense")
        return self._norm(x + narrow, f"{name}.output.LayerNorm")

    def _attention(self, x: Any, name: str) -> Any:
        heads, length = self._config.num_attention_heads, len(x)
        query, key, value = (
            self._linear(x, f"{name}.attention.self.{part}")
            .reshape(length, heads, -1)
            .transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[-1])
        shares = self._np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares = shares / shares.sum(axis=-1, keepdims=True)
        return (shares @ value).transpose(1, 0, 2).reshape(length, -1)

    def _linear(self, x: Any, name: str) -> Any:
        return x @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _norm(self, x: Any, name: str) -> Any:
        centred = x - x.mean(axis=-1, keepdims=True)
        variance = (centred**2).mean(axis=-1, keepdims=True)
        scaled = centred / self._np.sqrt(variance + self._config.layer_norm_eps)
        return scaled * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
