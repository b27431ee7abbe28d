"""What a statement declares of its data is what its draws are, and what a user's data must be."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from rankmath.claims import statements
from rankmath.validation import ArrayLike, InvalidArgument
from rankmath.verification.data import Declared
from rankmath.verification.instance import ArrayInstance
from rankmath.verification.statement import Statement

DECLARED = sorted(key for key, entry in statements().items() if entry.arrays)


@pytest.mark.parametrize("key", DECLARED)
def test_drawn_data_are_as_declared(key: str) -> None:
    entry = statements()[key]
    rng = np.random.default_rng(0)
    drawn = [instance for draw in entry.draws for instance in map(draw(rng, 2).select, range(1))]
    for instance in (*drawn, *(entry.extremal(rng) if entry.extremal else ())):
        assert isinstance(instance, ArrayInstance)
        arrays = {name: np.asarray(instance[name]) for name in entry.arrays}
        plain = {name for name, text in entry.arrays.items() if not text.startswith("mask")}
        numbers = {
            name: (array + 0 if array.dtype == bool and name in plain else array)[()] for name, array in arrays.items()
        }
        found = Declared(entry.arrays, entry.exact)(**numbers)
        assert all((np.asarray(found[name]) == numbers[name]).all() for name in numbers)


@pytest.mark.parametrize(
    ("declared", "good", "bad", "said"),
    [
        ("n n", [[1, 2], [3, 4]], [[1, 2]], r"shape \(1, 2\) given; it must be \(n, n\)"),
        ("2 d", [[1], [2]], [[1]], r"shape \(1, 1\) given; it must be \(2, any\)"),
        ("n", [1], [[1]], r"shape \(1, 1\) given"),
        ("n, n >= 2", [1, 2], [1], "n = 1 given; n >= 2 is needed"),
        (", > 0", 1, 0, "0 given; > 0 is needed"),
        ("n, <= 1", [1, 0], [0, 2], "2 given; <= 1 is needed"),
        (", whole", 3, Fraction(1, 2), "1/2 given; whole is needed"),
        (", even", 4, 3, "3 given; even is needed"),
        ("n n, stochastic", [[Fraction(1, 3), Fraction(2, 3)], [1, 0]], [[0.1, 0.9], [1, 0]], "stochastic is needed"),
        ("n n, stochastic", [[1]], [[2, -1], [0, 1]], "-1 given; stochastic is needed"),
        ("n d, no zero row", [[0, 1]], [[1, 1], [0, 0]], "a zero row given"),
    ],
)
def test_what_is_declared_is_demanded(declared: str, good: ArrayLike, bad: ArrayLike, said: str) -> None:
    made = Declared({"A": declared}, exact=True)
    assert np.array_equal(made(good)["A"], np.asarray(good, dtype=object))
    with pytest.raises(InvalidArgument, match=f"^A: .*{said}"):
        made(bad)


def test_a_length_is_one_for_all_arrays() -> None:
    made = Declared({"E": "n m", "c": "m"}, exact=False)
    assert made([[1.0, 2.0]], c=[3.0, 4.0])["c"].tolist() == [3.0, 4.0]
    with pytest.raises(InvalidArgument, match=r"^c: shape \(3,\) given; it must be \(2\)"):
        made([[1.0, 2.0]], [3.0, 4.0, 5.0])
    masked = Declared({"X": "n d", "allowed": "mask n = causal"}, exact=False)
    assert masked([[1.0], [2.0]])["allowed"].tolist() == [[True, False], [True, True]]
    assert masked([[1.0], [2.0]], allowed="complete")["allowed"].all()
    with pytest.raises(InvalidArgument, match=r"^X: a matrix given; independent rows is needed"):
        Declared({"X": "n d, independent rows"}, exact=False)([[1.0, 2.0], [2.0, 4.0]])


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        (3, r"^arrays: 3 given; names with their axes"),
        (["v"], r"^arrays: \['v'\] given"),
        ({"v": 3}, r"^arrays: 3 given for v; axes in a text"),
        ({"3v": "n"}, r"^arrays: the name '3v' given"),
        ({"v": "n; m"}, r"^arrays: the axes 'n; m' given for v"),
        ({"v": "n, zork"}, r"^arrays: 'zork' given for v; allowed are > 0, .*, whole, even, stochastic"),
        ({"v": "n, >0"}, r"^arrays: '>0' given for v; allowed are > 0, m >= 2 and the like \(whole numbers"),
        ({"v": "n, k > 0"}, r"^arrays: 'k > 0' given for v; there is no axis k$"),
        ({"v": ", stochastic"}, r"^arrays: 'stochastic' given for v, a number; it is said of what has rows$"),
    ],
)
def test_a_declaration_that_cannot_be_read_is_refused_at_once(arrays: object, said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        Statement("mine:x", "1 <= 2", arrays=arrays)  # type: ignore[arg-type]
