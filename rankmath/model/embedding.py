"""From a text, token ids, pixels or a spectrogram to the tokens X of layer 0."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtr

from rankmath.model.arrays import Floats
from rankmath.model.blocks import fresh
from rankmath.model.checkpoint_files import MOST_JSON_BYTES
from rankmath.model.network import LayerNorm
from rankmath.validation import ArrayLike, InvalidArgument, as_array, as_count


@dataclass(frozen=True, eq=False)
class WordEmbedding:
    """X_i = N(scale·word[id_i] + position[p_i] + type[t_i]) A + a, with the LayerNorm N and the map A where there
    are any.

    Attributes
    ----------
    positions : None where attention has the positions; then `places` tokens are the most.
    padding : id of the padding token where positions are counted after it (RoBERTa, MPNet), else None.
    """

    words: Floats
    positions: Floats | None = None
    types: Floats | None = None
    norm: LayerNorm | None = None
    projection: tuple[Floats, Floats | None] | None = None
    padding: int | None = None
    scale: float = 1.0
    places: int = 0

    def __call__(self, ids: ArrayLike, types: ArrayLike = None) -> Floats:
        ids = whole_numbers("ids", ids, len(self.words))
        n = ids.shape[-1]
        if self.positions is None and n > self.places:
            raise InvalidArgument(f"ids: {n} tokens given; the model has positions for {self.places}")
        X = self.words[ids] if self.scale == 1.0 else self.words[ids] * self.scale
        if self.positions is not None:
            X = X + self.positions[self._places(ids)]
        if self.types is not None:
            types = np.zeros_like(ids) if types is None else whole_numbers("types", types, len(self.types))
            if types.shape[-1] != n:
                raise InvalidArgument(f"types: {types.shape[-1]} given; one for each of the {n} ids is needed")
            X = X + self.types[types]
        elif types is not None:
            raise InvalidArgument("types: given; this model knows no token types")
        if self.norm is not None:
            X = standardised(X, self.norm)
        if self.projection is not None:
            weight, bias = self.projection
            X = X @ weight if bias is None else X @ weight + bias
        return np.asarray(X)

    def _places(self, ids: Floats) -> Floats:
        assert self.positions is not None
        if self.padding is None:
            places = np.broadcast_to(np.arange(ids.shape[-1]), ids.shape)
        else:
            word = ids != self.padding
            places = np.cumsum(word, axis=-1) * word + self.padding
        if places.max() >= len(self.positions):
            raise InvalidArgument(f"ids: {ids.shape[-1]} tokens given; the model has positions for {self.room}")
        return places

    @property
    def room(self) -> int:
        """How many tokens there are positions for."""
        if self.positions is None:
            return self.places
        return len(self.positions) - (0 if self.padding is None else self.padding + 1)

    @property
    def vocabulary(self) -> int:
        """Ids are 0, …, vocabulary − 1."""
        return len(self.words)

    def redrawn(self, rng: np.random.Generator, spread: float) -> WordEmbedding:
        """Before training: Gaussian tables with standard deviation `spread`, LayerNorm 1 and 0."""

        def draw(table: Floats | None) -> Floats | None:
            return None if table is None else _drawn(rng, table, spread)

        projection = None
        if self.projection is not None:
            weight, bias = self.projection
            projection = _drawn(rng, weight, spread), None if bias is None else np.zeros_like(bias)
        return replace(
            self,
            words=_drawn(rng, self.words, spread),
            positions=draw(self.positions),
            types=draw(self.types),
            norm=None if self.norm is None else fresh(self.norm),
            projection=projection,
        )


@dataclass(frozen=True, eq=False)
class PatchEmbedding:
    """An image (channels, height, width) cut into patches, each mapped to a token, behind the class token."""

    kernel: Floats
    bias: Floats | None
    first: Floats
    positions: Floats

    def __call__(self, pixels: ArrayLike) -> Floats:
        d, channels, p, q = self.kernel.shape
        image = as_array("pixels", pixels, min_ndim=3, shape=(channels, None, None))
        *lead, _, height, width = image.shape
        rows, columns = height // p, width // q
        if height % p or width % q or rows * columns + len(self.first) != len(self.positions):
            count = len(self.positions) - len(self.first)
            raise InvalidArgument(
                f"pixels: shape {image.shape} given; {count} patches of {p} × {q} pixels, {channels} "
                f"channels, are needed"
            )
        patches = image.reshape(*lead, channels, rows, p, columns, q)
        axes = (*range(len(lead)), *(len(lead) + k for k in (1, 3, 0, 2, 4)))
        flat = patches.transpose(axes).reshape(*lead, rows * columns, channels * p * q)
        X = flat @ self.kernel.reshape(d, -1).T
        X = X if self.bias is None else X + self.bias
        first = np.broadcast_to(self.first, (*lead, *self.first.shape))
        return np.asarray(np.concatenate([first, X], axis=-2) + self.positions)

    def random(self, rng: np.random.Generator) -> Floats:
        """Standard Gaussian pixels, in a square where the patches make one."""
        _, channels, p, q = self.kernel.shape
        count = len(self.positions) - len(self.first)
        rows = math.isqrt(count) if math.isqrt(count) ** 2 == count else 1
        return rng.standard_normal((channels, rows * p, count // rows * q))

    def redrawn(self, rng: np.random.Generator, spread: float) -> PatchEmbedding:
        """Before training: Gaussian kernel and positions with standard deviation `spread`."""
        return replace(
            self,
            kernel=_drawn(rng, self.kernel, spread),
            bias=None if self.bias is None else np.zeros_like(self.bias),
            first=_drawn(rng, self.first, spread),
            positions=_drawn(rng, self.positions, spread),
        )


@dataclass(frozen=True, eq=False)
class AudioEmbedding:
    """A spectrogram (mels, frames) through two convolutions with GELU, the second of stride 2, plus positions."""

    first: tuple[Floats, Floats]
    second: tuple[Floats, Floats]
    positions: Floats

    def __call__(self, mels: ArrayLike) -> Floats:
        frames = as_array("mels", mels, ndim=2, shape=(self.first[0].shape[1], None))
        X = _convolved(frames, *self.first, stride=1)
        X = _convolved(X * ndtr(X), *self.second, stride=2)
        X = (X * ndtr(X)).T  # GELU
        if len(X) > len(self.positions):
            raise InvalidArgument(
                f"mels: {frames.shape[1]} frames given; the model has room for {2 * len(self.positions)}"
            )
        return np.asarray(X + self.positions[: len(X)])

    @property
    def room(self) -> int:
        """How many tokens there are positions for."""
        return len(self.positions)

    def random(self, rng: np.random.Generator, tokens: int) -> Floats:
        """A standard Gaussian spectrogram of so many tokens, two frames each."""
        return rng.standard_normal((self.first[0].shape[1], 2 * as_count("tokens", tokens, most=self.room)))

    def redrawn(self, rng: np.random.Generator, spread: float) -> AudioEmbedding:
        """Before training: Gaussian kernels with standard deviation `spread`; the positions are not trained."""

        def draw(pair: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
            return _drawn(rng, pair[0], spread), np.zeros_like(pair[1])

        return replace(self, first=draw(self.first), second=draw(self.second))


Embedding = WordEmbedding | PatchEmbedding | AudioEmbedding


def whole_numbers(name: str, values: ArrayLike, most: int) -> Floats:
    """Indices 0, …, most − 1 as an array (..., n)."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise InvalidArgument(f"{name}: sequences of different lengths given; a batch needs one length") from None
    if array.dtype.kind not in "iu" or array.ndim < 1 or not array.size:
        raise InvalidArgument(f"{name}: {str(values)[:60]} given; a non-empty sequence of whole numbers is needed")
    if array.min() < 0 or array.max() >= most:
        wrong = int(array[(array < 0) | (array >= most)][0])
        raise InvalidArgument(f"{name}: {wrong} given; a whole number from 0 to {most - 1} is needed")
    return array


def standardised(X: Floats, norm: LayerNorm) -> Floats:
    """LayerNorm by its definition."""
    X = X - X.mean(axis=-1, keepdims=True)
    X = X / np.sqrt((X * X).mean(axis=-1, keepdims=True) + norm.floor)
    normed: Floats = X if norm.gain is None else X * norm.gain
    return normed if norm.offset is None else normed + norm.offset


def _drawn(rng: np.random.Generator, like: Floats, spread: float) -> Floats:
    return np.asarray(rng.standard_normal(like.shape)) * spread


def _convolved(X: Floats, kernel: Floats, bias: Floats, *, stride: int) -> Floats:
    """A convolution along the frames, (channels, n) -> (out, n/stride), one frame of zeros at either end."""
    out, channels, width = kernel.shape
    padded = np.pad(X, ((0, 0), (width // 2, width // 2)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, width, axis=1)[:, ::stride]
    flat = windows.transpose(0, 2, 1).reshape(channels * width, -1)
    return np.asarray(kernel.reshape(out, -1) @ flat + bias[:, None])


def equal_lengths(name: str, rows: Sequence[Sequence[int]], tokens: int | None) -> list[list[int]]:
    """Sequences cut to `tokens`, or to be of one length."""
    if tokens is not None:
        tokens = as_count("tokens", tokens)
        short = [len(row) for row in rows if len(row) < tokens]
        if short:
            raise InvalidArgument(
                f"{name}: a sequence of {short[0]} tokens given; tokens={tokens} needs at least as many"
            )
    lengths = {len(row) for row in rows}
    if tokens is None and len(lengths) > 1:
        raise InvalidArgument(
            f"{name}: {min(lengths)} to {max(lengths)} tokens given; a batch needs one length: pass tokens="
        )
    return [list(row[:tokens]) for row in rows]


@dataclass(frozen=True)
class Tokenizer:
    """The tokenizer of a checkpoint; its file is read when the first text is."""

    path: Path

    def ids(self, text: str) -> list[int]:
        """Token ids with the model's special tokens, neither padded nor cut."""
        found = list(self._tool.encode(text).ids)
        if not found:
            raise InvalidArgument("text: no tokens in it")
        return found

    @cached_property
    def _tool(self) -> Any:
        try:
            from tokenizers import Tokenizer as Tool
        except ImportError:
            raise InvalidArgument("text: reading it needs the extra: pip install 'rankmath[models]'") from None
        if self.path.stat().st_size > MOST_JSON_BYTES:
            raise InvalidArgument(
                f"path: {str(self.path)!r} has {self.path.stat().st_size} bytes; too many for a tokenizer"
            )
        try:
            tool = Tool.from_file(str(self.path))
        except Exception as error:  # the library raises bare Exception, whatever is wrong
            raise InvalidArgument(f"path: {str(self.path)!r} given; not a tokenizer ({str(error)[:120]})") from None
        tool.no_padding()
        tool.no_truncation()
        return tool


def tokenizer_beside(folder: Path) -> Tokenizer | None:
    """The tokenizer of a folder, if it has one."""
    path = folder / "tokenizer.json"
    return Tokenizer(path) if path.exists() else None
