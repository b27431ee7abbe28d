"""The lemmas that derivations may use: the one-line claims of `lemmas.toml`, each with its Coq theorem."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

LEMMA_FILE = Path(__file__).with_name("lemmas.toml").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Lemma:
    """One lemma: `text` is true wherever `given` holds; `coq` is the theorem that says so."""

    name: str
    text: str
    given: tuple[str, ...]
    why: str
    coq: str


@lru_cache(maxsize=1)
def lemma_table() -> dict[str, Lemma]:
    """All lemmas by name, words filled in: `diameter-norm[1,inf]`."""
    found: dict[str, Lemma] = {}
    content = tomllib.loads(LEMMA_FILE)
    for entry in content["lemma"]:
        for matrix in entry.get("matrices", [""]):
            for row in entry.get("over", [{}]):
                words = {"M": matrix, **row} if matrix else row
                texts = [entry["claim"], *entry.get("given", [])]
                for letter, word in words.items():
                    texts = [text.replace("{" + letter + "}", word) for text in texts]
                name = entry["name"] + (f"[{','.join(words.values())}]" if words else "")
                why, theorem = entry.get("why", ""), content["theorems"].get(name, "")
                found[name] = Lemma(name, texts[0], tuple(texts[1:]), why, theorem)
                if entry.get("consensus"):
                    text = texts[0].replace("P[l, h]", "P0[l, h]")
                    found[f"{name}[P0]"] = Lemma(f"{name}[P0]", text, tuple(texts[1:]), why, theorem)
    return found


@lru_cache(maxsize=1)
def usable_statements() -> dict[str, str]:
    """Keys of registered statements that are proved, and the Coq theorems that prove them."""
    return dict(tomllib.loads(LEMMA_FILE)["statements"])
