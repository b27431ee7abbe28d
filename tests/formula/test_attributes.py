"""What is read off a definition's text holds of its values; of an entry that could be negative nothing is read."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from rankmath.arithmetic.float64 import Float64
from rankmath.checker.monomials import Atom, shape_nonnegative, shape_positive
from rankmath.definitions.attributes import never_negative, scaling, unmoved
from rankmath.definitions.entries import ENTRIES, Entry, define
from rankmath.formula.evaluate import value
from rankmath.formula.language import FUNCTIONS
from rankmath.formula.reader import read_formula
from rankmath.formula.run import Run
from rankmath.formula.terms import Call, Relation, walk
from rankmath.formula.text import Text
from rankmath.model.network import Network

RNG = np.random.default_rng(5)
ARRAYS = [RNG.standard_normal(shape) for shape in ((3, 2), (2, 2), (4, 4), (2, 3))]


def measured(entry: Entry, M: Any, word: str) -> float:
    """The quantity of a matrix alone, by its text."""
    rows = [[float(x) for x in row] for row in M]
    data = {"n": Fraction(len(rows)), "d": Fraction(len(rows[0]))}
    text = Text(Float64(np.zeros(1)), data)
    arguments: list[Any] = [rows, *([Fraction(word) if word.isdigit() else word] if word else [])]
    return float(text.apply(entry.name, arguments))


def of_a_matrix() -> list[tuple[str, str]]:
    """Quantities of one matrix and a word, and each word."""
    found = []
    for entry in ENTRIES.values():
        kinds = [(parameter.kind, parameter.by_place) for parameter in entry.parameters]
        if not entry.truth and kinds[:1] in ([("tokens", False)], [("weight", False)], [("matrix", False)]):
            found += [(entry.name, word) for word in entry.parameters[-1].words or ("",)]
    return [(name, word) for name, word in found if name != "normalised_norm"]  # which asks for a network


@pytest.mark.parametrize(("name", "word"), of_a_matrix())
def test_scale_and_shift_are_as_the_text_says(name: str, word: str) -> None:
    entry = ENTRIES[name]
    square = entry.parameters[0].kind == "weight"
    for M in ARRAYS:
        if (square and M.shape[0] != M.shape[1]) or (name == "gram_height" and len(M) > len(M[0])):
            continue
        at = measured(entry, M, word)
        assert at >= 0 or not never_negative(entry)
        degree = scaling(entry)
        assert degree is not None
        assert measured(entry, 3 * M, word) == pytest.approx(at * 3 ** float(degree), rel=1e-9)
        shifted = measured(entry, M + np.linspace(1, 2, M.shape[1]), word)
        assert (shifted == pytest.approx(at, rel=1e-9)) == (unmoved(entry) or (name == "rank" and shifted == at))


def test_every_quantity_that_is_called_never_negative_is_not() -> None:
    """On the examples of all entries, over networks of several kinds."""
    for seed in range(3):
        net = Network.random(3, 4, heads=2, layers=2, seed=seed, biases=True)
        run = Run(Float64(np.zeros(1)), net, net.random_input(seed=seed))
        for entry in ENTRIES.values():
            formula = read_formula(entry.example) if not entry.truth else None
            for call in walk(formula) if isinstance(formula, Relation) else ():
                if isinstance(call, Call) and call.function == entry.name and never_negative(entry):
                    try:
                        found = value(call, run, {})
                    except ValueError:  # not for such networks
                        continue
                    assert float(found if isinstance(found, Fraction) else found.floats()) >= 0, entry.name


def test_what_may_be_negative_is_not_called_so() -> None:
    """The checker trusts the answer: a quantity with a difference in it says nothing of its sign."""
    entries = [
        define("lopsided(X) = max(x[0] for x in X) - 1", "first entry less one", latex="a({0})"),
        define("slanted(X) = sum(x[0]*x[1] for x in X)", "a product", latex="b({0})"),
        define("uneven(X) = max(x[0] for x in X) - min(x[1] for x in X)", "of two columns", latex="c({0})"),
        define("cubed(X) = sum(sum(x**3) for x in X)", "an odd power", latex="e({0})"),
        define("turned(X) = abs(X[0][0]) if len(X) > 1 else X[0][0]", "one case", latex="f({0})"),
    ]
    try:
        for entry in entries:
            assert not never_negative(entry), entry.name
            assert not shape_nonnegative(Atom("quantity", entry.name))
            assert not unmoved(entry)
        assert scaling(entries[0]) is None
        assert [scaling(entry) for entry in entries[1:4]] == [2, 1, 3]
    finally:
        for entry in entries:
            del ENTRIES[entry.name], FUNCTIONS[entry.name]
    assert shape_nonnegative(Atom("quantity", "diameter"))
    assert shape_positive(Atom("quantity", "epsilon"))
    assert not shape_positive(Atom("quantity", "diameter"))


def test_a_difference_times_a_negative_number_is_not_called_never_negative() -> None:
    made = define("swapped(X) = max(X[0])*(0 - 1) - min(X[0])*(0 - 1)", "a difference", latex="D({0})")
    try:
        assert measured(made, [[1.0, 3.0]], "") == -2.0
        assert not never_negative(made)
    finally:
        del ENTRIES["swapped"]
