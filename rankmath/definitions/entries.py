"""One entry for each quantity of the language of claims: its definition as text, and how it is said and printed.

A definition is a line ``name(a, b) = term`` in a few of Python's expressions: arithmetic and relations, conditions
and loops, `@` for the matrix product. Tokens are the rows of a matrix and are counted from 0. Who wants a number
reads the text with an arithmetic of its own: nobody defines a quantity a second time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Parameter:
    """One argument: its name, its kind, and the words allowed where it is a word.

    Kinds: tokens X[i], a weight W[l, h] or W_QK[l, h], attention P[l, h], any matrix of these, a number, a layer or
    token (a whole number), a word. What stands for an array by its place hands its place to the definition.
    """

    name: str
    kind: str
    words: tuple[str, ...] = ()
    by_place: bool = False


@dataclass(frozen=True)
class Entry:
    """A quantity or a predicate.

    Attributes
    ----------
    body : the term that defines it, over the names of its parameters and the definitions of `layer`.
    meaning : the same in words.
    latex : a template over the printed arguments, ``{0}``, ``{1}``, … .
    sign : "+" where it is never negative, ">" where it is positive, for a reason that its text does not show.
    degree : k where scaling its first argument by c > 0 scales it by c^k and its text does not show it
        (`rankmath.definitions.attributes` reads both off the text where that shows them).
    known : of what joins several arrays of a network, what holds for all arrays: a term in which `share` is any
        number of [0, 1], A the first argument and w the second; "any" where nothing is known.
    """

    name: str
    parameters: tuple[Parameter, ...]
    places: tuple[str, ...]
    body: str
    meaning: str
    latex: str
    example: str
    truth: bool = False
    sign: str = ""
    degree: int | None = None
    known: str = ""

    @property
    def line(self) -> str:
        """The definition, as the readers of places have it."""
        return f"{self.name}({', '.join(self.places)}) = {self.body}\n"


ENTRIES: dict[str, Entry] = {}
#: Called with every entry that is added.
WATCHERS: list[Callable[[Entry], None]] = []
_LETTERS_OF_ARRAYS = {"X": "tokens", "W": "weight", "P": "attention", "M": "matrix", "l": "layer", "k": "layer"}


def lines(text: str) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Name, parameters and term of lines ``name(a, b) = term``, ``name[i] = term``, ``name = term``.

    ``# comment`` is left out, and an indented line goes on with the one before.
    """
    for line in filter(None, re.sub(r"\n[ ]+", " ", re.sub(r"#.*\n", "\n", text)).splitlines()):
        head, body = line.split(" = ", 1)
        name, *parameters = re.findall(r"\w+", head)
        yield name, tuple(parameters), body


def define(
    line: str,
    meaning: str,
    *,
    latex: str,
    example: str = "",
    words: dict[str, tuple[str, ...]] | None = None,
    truth: bool = False,
    sign: str = "",
    degree: int | None = None,
    known: str = "",
) -> Entry:
    """Add a quantity to the language.

    Its parameters say their kinds by their letters: X tokens, W weights, P attention, M any of these matrices, l or
    k a whole number, a name in `words` one of these words, any other a number. ``X[l]`` and ``P[l, h]`` take the
    array by its place, for what is about more than its entries.

    >>> define("tallest(X) = max(length(x, 1) for x in X)", "largest norm", latex="R({0})").places
    ('X',)
    >>> del ENTRIES["tallest"]
    """
    [(name, _, body)] = lines(line.strip() + "\n")
    inside = line.partition("(")[2].partition(") =")[0]
    parameters, places = [], []
    for part in re.findall(r"\w+\[[^\]]*\]|\w+", inside):
        array, *at = re.findall(r"\w+", part)
        allowed = (words or {}).get(array, ())
        kind = "word" if allowed else _LETTERS_OF_ARRAYS.get(array, "number")
        parameters.append(Parameter(array, kind, allowed, bool(at)))
        places.extend(at or [array])
    call = f"{name}({', '.join(parameter.name for parameter in parameters)})"
    text = " ".join(body.split())
    entry = Entry(
        name, tuple(parameters), tuple(places), text, meaning, latex, example or call, truth, sign, degree, known
    )
    ENTRIES[name] = entry
    for watch in WATCHERS:
        watch(entry)
    return entry
