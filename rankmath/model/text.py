"""Text to token ids by the `tokenizers` library (extra `models`), from the tokenizer.json beside the weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from rankmath.model.checkpoint_files import MOST_JSON_BYTES
from rankmath.validation import InvalidArgument


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
