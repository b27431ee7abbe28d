"""The language of claims: text and formula are one, everything printed reads back, nothing is evaluated as code."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import rankmath as rm
from rankmath.claims import statements
from rankmath.decide.space import rooms
from rankmath.formula import read_formula
from rankmath.formula.language import ARRAYS, FUNCTIONS, LETTERS
from rankmath.formula.printing import latex, text, words
from rankmath.formula.prose import formulas
from rankmath.formula.terms import Both, Call, Every, Item, Letter, Number, Operation, Relation, Term, walk

ARRAY_NAMES = sorted({name for entry in statements().values() for name in entry.arrays} | {"v"})


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_function_has_an_example_that_reads_back(name: str) -> None:
    entry = FUNCTIONS[name]
    formula = read_formula(entry.example, ARRAY_NAMES)
    assert read_formula(text(formula), ARRAY_NAMES) == formula
    if not name.startswith(("all_", "any_")):
        assert name in {term.function for term in walk(formula) if isinstance(term, Call)}
    assert latex(formula)
    assert entry.meaning


@pytest.mark.parametrize("key", statements())
def test_a_printed_claim_read_again_is_the_formula_it_came_from(key: str) -> None:
    entry = statements()[key]
    assert read_formula(entry.claim_text, entry.arrays) == entry.expanded
    for part, whole in zip(entry.given_texts, entry.hypotheses, strict=True):
        assert read_formula(part, entry.arrays) == entry._written_out(whole)


@pytest.mark.parametrize("key", statements())
def test_every_hypothesis_that_is_evaluated_is_printed_with_the_claim(key: str) -> None:
    """The printed claim and the hypotheses cannot part: each one stands in the LaTeX and in the text."""
    entry = statements()[key]
    for part in entry.hypotheses:
        # The words are of networks: an array of the same name is a letter.
        shown = text(part) if entry.arrays else words(part)
        if shown:
            assert shown in str(entry)
            inside = rf"\text{{{formulas(shown)}}}" if shown != text(part) else latex(part)
            assert inside in entry.claim
    for name in entry.where:
        assert f"{name} = " in str(entry)


def test_the_collapse_theorems_are_printed_with_their_smallness() -> None:
    for key in ("dong2021:2.2", "dong2021:2.3", "dong2021:3.2", "dong2021:2.3-printed", "own:composite"):
        assert r"\delta(P^{l,h}) \le x^*" in statements()[key].claim, key


numbers = st.fractions(min_value=-50, max_value=50, max_denominator=20).map(Number)
leaves = numbers | st.sampled_from(["n", "d", "H", "L", "d_qk"]).map(Letter)
quantities = st.builds(
    lambda l, h, p: Call("norm", (Item("W", (Number(Fraction(l)), Number(Fraction(h)))), p)),
    st.integers(0, 3),
    st.integers(0, 3),
    st.sampled_from([Number(Fraction(1)), Number(Fraction(2)), Letter("inf"), Letter("max")]),
)


def terms() -> st.SearchStrategy[Term]:
    def extend(inner: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
        pairs = st.tuples(inner, inner)
        return (
            pairs.map(lambda p: p[0] + p[1])
            | pairs.map(lambda p: p[0] - p[1])
            | pairs.map(lambda p: p[0] * p[1])
            | st.tuples(inner, inner.filter(lambda t: t != Number(Fraction(0)))).map(lambda p: p[0] / p[1])
            | pairs.map(lambda p: p[0] ** p[1])
            | inner.map(lambda t: -t)
            | inner.map(lambda t: Call("sqrt", (t,)))
            | pairs.map(lambda p: Call("max", p))
        )

    return st.recursive(leaves | quantities, extend, max_leaves=12)


@settings(max_examples=300, deadline=None)
@given(left=terms(), right=terms(), operator=st.sampled_from(["<=", "<", ">=", ">", "=="]))
def test_any_formula_reads_back_from_its_text(left: Term, right: Term, operator: str) -> None:
    formula = Relation(operator, left, right)
    try:
        again = read_formula(text(formula))
    except rm.InvalidArgument as refused:
        # Drawn at random a denominator may be 0, a root have no value, and a power be too large to write out.
        if not re.search(
            "division by zero|an exponent beyond|a power of more than|a number of at least 0", str(refused)
        ):
            raise
        assume(False)
    assert again == formula
    latex(formula)


@pytest.mark.parametrize(
    ("claim", "says"),
    [
        ("diametre(X[1], 1) <= 1", "column 1: no function 'diametre' in the language; did you mean 'diameter'"),
        ("diameter(X[1], 3) <= 1", "'3' given; allowed are 1, 2, inf"),
        ("diameter(X[1]) <= 1", r"p missing, as in diameter\(X\[1\], 2\)"),
        ("frobenius(X[1]) <= 1", r"what tells of it: residual\(X, frobenius\), norm\(M, frobenius\)"),
        ("angle(X[1]) <= 1", "what tells of it: cosine"),
        ("diameter(X[1], 1, 2) <= 1", "3 arguments given"),
        ("diameter(W[0,0], 1) <= 1", r"X\[l\] is needed"),
        ("norm(W[0], 1) <= 1", "W takes 2 indices"),
        ("mu(X[0])", "is no relation"),
        ("mu(X[0]) != 1", "only <=, <"),
        ("mu(X[l]) <= 1", "the index l is free"),
        ("X[0] <= 1", "is an array"),
        ("q <= 1", "no letter 'q'"),
        ("__import__('os').system('true') <= 1", "is no function of the language"),
        ("(lambda: 1)() <= 1", "is no function of the language"),
        ("[1 for x in n] <= 1", "is not in the language"),
        ("n if n else d <= 1", "is no relation"),
        ("mu(X[0]) <= 'a'", "is not in the language"),
        ("mu(X[0]) <= True", "is not in the language"),
        ("mu(X[1]) <= 2*mu(X[0]) # and mu(X[0]) <= 1", r"column 24: '#' \(NUMBER SIGN\) is not in the language"),
        ("mu(X[0]) <= 1/0", "division by zero"),
        ("mu(X[d_qk]) <= 1", "'d_qk' is no index"),
        ("mu(X[0]) <=", "claim, column"),
        ("", "empty"),
        ("mask == diagonal", "'diagonal' given; allowed are none"),
        ("mask <= causal", "compared by =="),
        ("sum_h(sum_h(1)) <= 1", "bound twice; max_h or min_h says"),
        ("sum_h(1, 2) <= 1", "2 arguments given"),
        ("mu(X[0]) <= 1j", "is not in the language"),
        ("mu(X[0]) <= " + "9" * 500, "characters"),
        ("mu(X[0]) <= " + "(" * 500 + "1" + ")" * 500, "claim"),
        ("mu(X[0]) <= " + "-" * 500 + "1", "nested"),
        ("1 <= " + "+".join(["n"] * 9000), "claim"),
    ],
)
def test_what_is_not_in_the_language_is_refused_with_its_place(claim: str, says: str) -> None:
    with pytest.raises(rm.InvalidArgument, match=says):
        read_formula(claim)


def test_names_and_words_of_arguments_are_interchangeable() -> None:
    from rankmath.formula import W, X, diameter, norm  # type: ignore[attr-defined]

    one = read_formula("diameter(X[1], p=1) <= norm(W[0,0], inf)*diameter(X[0], 1)/2")
    assert one == (diameter(X[1], p=1) <= norm(W[0, 0], "inf") * diameter(X[0], 1) / 2)
    assert one == read_formula('diameter(X = X[1], p = 1) <= norm(W[0, 0], "inf")*diameter(X[0], p="1")/2')
    assert read_formula("heads == 1") == read_formula("H == 1")
    assert read_formula("residual(X[1], 1) <= norm(X[1], one)") == read_formula("residual(X[1], one) <= norm(X[1], 1)")


@pytest.mark.parametrize("place", ["before", "after"])
def test_a_norm_and_its_place_are_said_in_one_word(place: str) -> None:
    claim = f"n >= 2 and layernorm == rms and norm_at == {place} and mask == causal"
    for name in ("norm", "layernorm"):
        assert read_formula(f"n >= 2 and {name} == rms   {place} and mask == causal") == read_formula(claim)
    with pytest.raises(rm.InvalidArgument, match=r"column 13"):
        read_formula("norm == rms behind")


def test_decimals_are_exact() -> None:
    assert (
        read_formula("n <= 0.1")
        == read_formula("n <= 1/10")
        != read_formula("n <= 0.1000000000000000055511151231257827")
    )


def test_indices_range_over_layers_and_heads() -> None:
    """Sums, products and maxima against numpy on a network of three layers and two heads."""
    from rankmath.arithmetic.float64 import Float64
    from rankmath.formula.evaluate import value
    from rankmath.formula.reader import read_term
    from rankmath.formula.run import Run

    net = rm.Network.random(tokens=3, dim=2, heads=2, layers=3, seed=4)
    run = Run(Float64(np.zeros(1)), net, net.random_input(seed=1))
    rows = np.abs(np.asarray(net.W)).sum(axis=-1).max(axis=-1)  # (L, H): the largest row sums
    for term, expected in {
        "sum_l(sum_h(norm(W[l,h], inf)))": rows.sum(),
        "max_l(sum_h(norm(W[l,h], inf)))": rows.sum(axis=1).max(),
        "prod_l(min_h(norm(W[l,h], inf)))": rows.min(axis=1).prod(),
        "sum_h(norm(W[L-1,h], inf))": rows[2].sum(),
        "recursion(b, 1, b*norm(W[l,0], inf) + l)": _recursed(rows[:, 0]),
    }.items():
        assert float(value(read_term(term), run, {}).floats()) == pytest.approx(expected, rel=1e-13), term


@pytest.mark.parametrize(
    ("claim", "says"),
    [
        ("mu(X[n/2]) <= 1", r"X\[n/2\]: no X\[3/2\] in a network of 2 heads and 3 layers"),
        ("mu(X[L+1]) <= 1", r"no X\[4\]"),
        ("norm(W[L,0], 2) <= 1", r"no W\[3, 0\]"),
        ("mu(X[L-4]) <= 1", r"no X\[-1\]"),
    ],
)
def test_an_index_that_the_network_does_not_have_is_refused_not_rounded(claim: str, says: str) -> None:
    net = rm.Network.random(tokens=3, dim=2, heads=2, layers=3, seed=4)
    with pytest.raises(rm.InvalidArgument, match=says):
        rm.verify(rm.Statement("mine:index", claim), net, net.random_input(seed=1))


def test_what_mpmath_cannot_hold_is_undecided_in_every_arithmetic() -> None:
    net = rm.Network.random(tokens=3, dim=2, layers=1, seed=4)
    for claim in ("mu(X[1]) <= 1/(n - n)", "mu(X[1]) <= exp(exp(exp(1000)))"):
        statement = rm.Statement("mine:huge", claim)
        for arithmetic in ("float64", "mpmath", "balls"):
            verdict = rm.verify(statement, net, net.random_input(seed=1), arithmetic=arithmetic)
            assert (verdict.outcome, verdict.certified) == ("UNDECIDED", False)


def _recursed(sizes: np.ndarray) -> float:
    b = 1.0
    for l, size in enumerate(sizes):
        b = b * size + l
    return b


def test_letters_arrays_and_functions_do_not_share_names_by_accident() -> None:
    assert not set(LETTERS) & set(ARRAYS)
    assert not set(ARRAYS) & set(FUNCTIONS)
    assert all(re.fullmatch(r"[a-z_][a-z_0-9]*", name, re.I) for name in FUNCTIONS)


def test_formulas_have_no_truth_value() -> None:
    with pytest.raises(TypeError, match="no truth value"):
        bool(read_formula("n >= 2"))
    assert isinstance(read_formula("n >= 2 and d >= 2"), Both)
    assert isinstance(read_formula("all_l(mu(X[l]) >= 0)"), Every)
    assert isinstance(read_formula("-n <= 2").left, Operation)


def test_what_is_under_a_product_or_a_maximum_stands_in_parentheses() -> None:
    """∏_l (|λ| − x) is not (∏_l |λ|) − x, and (Σ_h a) − b is not Σ_h (a − b)."""
    product = latex(read_formula("prod_l(abs(skip) - l) >= sum_h(h) - n"))
    assert product == r"\prod_{l} \bigl(\bigl|\lambda\bigr| - l\bigr) \ge \Bigl(\sum_{h} h\Bigr) - n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("mu(X[1]) <= 2**10**9", "column 13: an exponent beyond"),
        ("9**9**9**9 <= mu(X[0])", "an exponent beyond"),
        ("(2**4000)**4000 <= mu(X[0])", "a power of more than 20000 bits"),
        ("1e999999999999 <= mu(X[0])", "a number of more than 400 digits"),
        ("mu(X[1]) <= mu(X[0])/(1 - 1)", "division by zero"),
        ("0**-1 <= mu(X[0])", "division by zero"),
        ("mu(X[0]) >= sqrt(1 - 2)", r"column 13: 'sqrt\(1 - 2\)' given; a number of at least 0 is needed in sqrt"),
        ("log(0) <= mu(X[0])", r"'log\(0\)' given; a positive number is needed in log"),
        ("(-1)**(1/2) <= mu(X[0])", "a number of at least 0 is needed below a root"),
        ("mu(X[10**9]) <= 1", "column 6: '10\\*\\*9' is no index"),
        ("mu(X[-1]) <= 1", "'-1' is no index"),
        ("mu(X[1/2]) <= 1", "'1/2' is no index"),
        ("mu(X[mu(X[0])]) <= 1", "is no index"),
        ("mu(\u0425[1]) <= 1", "column 4: .*CYRILLIC CAPITAL LETTER HA"),
        ("\uff4d\uff55(X[1]) <= 1", "FULLWIDTH LATIN SMALL LETTER M"),
        ("mu(X[1]) \u2264 1", "column 10: .*; write <="),
        ("\u03bc(X[1]) <= 1", "column 1: .*GREEK SMALL LETTER MU.*; write mu$"),
        ("mu(X[1]) <= 1e-400", "column 13: a number of more than 400 digits"),
        ("nan <= mu(X[0])", "no letter 'nan' in the language; there are H, K, L"),
        ("__import__('os').system('true') <= 1", "is no function of the language"),
        ("-" * 5000 + "mu(X[0]) <= 1", "nested (too deeply|more than 100 deep)"),
        ("mu(X[0]) + " * 100_000 + "1 <= 2", "at most 20000 are read"),
        ("mu(X[1]) <=", "column 12: invalid syntax"),
        ("mu(X[1]) => 1", "column 10: .*; write >="),
        ("mu(X[1]) < = 1", "column 12: .*; write <= without a blank"),
        ("heads = 1", "column 7: .*; equality is written =="),
        ("n == 2; d == 1", "column 7: .*; hypotheses stand between commas"),
        ("2diameter(X[0], 2) <= 1", "column 1: .*; a product is written 2[*]diameter"),
        ("mu(X[0]) <= 1e-3*(", "column 18: .*; a relation between terms is needed"),
        ("exist mu(X[1]) > 2", "column 7: .*; did you mean exists in the place of .exist."),
        ("diam(X[1], 2) <= 1", "no function 'diam' in the language; did you mean 'diameter'"),
        ("Mu(X[1]) <= 1", "no function 'Mu' in the language; did you mean 'mu'?"),
        ("Diam(X[1], 2) <= 1", "no function 'Diam' in the language; did you mean 'diameter'?"),
        ("zebra(X[1]) <= 1", "no function 'zebra' in the language; `rankmath quantities` lists them"),
        (r"mu(X[1]) \le mu(X[0])", r"column 10: \\le is LaTeX, which is not read; write <=$"),
        (r"\mathrm{mu}(X[1]) <= 1", "column 1: .*; write the name alone$"),
        ("mu(X[1]) <= n^2 mu(X[0])", "column 17: .*; a product is written with [*]"),
        ("mu(X[1]) <= (n)mu(X[0])", "column 16: .*; a product is written with [*]"),
        ("mu(X[1]", "was never closed; a relation between terms is needed"),
        ("mu(X[1]) <= 1 or mu(X[0]) <= 1", "has no 'or': formulas are joined by and"),
        ("all_l(not mu(X[l]) <= 1)", "column 7: the language has no 'not'"),
        ("n == 2 implies mu(X[0]) <= 1", "column 8: .*; the language has no 'implies'"),
    ],
)
def test_hostile_text_is_refused_in_a_line(text: str, says: str) -> None:
    with pytest.raises(rm.InvalidArgument, match=says) as refusal:
        read_formula(text)
    assert "\n" not in str(refusal.value)


def test_indices_of_numbers_are_written_as_one() -> None:
    assert str(read_formula("mu(X[1+1]) <= 1")) == "mu(X[2]) <= 1"


def test_what_is_proposed_does_not_depend_on_which_claims_are_loaded() -> None:
    """spread and total belong to single claims, whose files bring them."""
    statements()
    assert {"spread", "symmetric"} <= set(FUNCTIONS)
    for typed in ("spreads(X[0]) <= 1", "symetric(X[0]) <= 1"):
        with pytest.raises(rm.InvalidArgument, match=r"in the language; (did you mean|`rankmath)") as refusal:
            read_formula(typed)
        assert "spread'" not in str(refusal.value)
        assert "symmetric'" not in str(refusal.value)


def test_hypotheses_stand_between_commas_wherever_they_are_given() -> None:
    parts = ["heads == 1", "diameter(X[0], 2) <= 1"]
    joined, apart = (
        rm.Statement("mine:a", "mu(X[1]) <= 1", given=given).given_texts for given in (", ".join(parts), parts)
    )
    assert joined == apart
    assert "diameter(X[0], 2) <= 1" in joined


def test_a_network_that_is_not_searched_is_named_by_what_was_given() -> None:
    with pytest.raises(rm.InvalidArgument, match=r"^given: n >= 900, H == 1 given; no network that is searched"):
        rooms(rm.Statement("mine:a", "mu(X[1]) <= 1", given="n >= 900, heads == 1"))


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("rotary", "did you mean positions == rotary"),
        ("rope == 1", "did you mean positions == rotary"),
        ("mu(X[1]) <= C*mu(X[0])", "--sharpen takes a letter"),
        ("mu(X[1]) <= C*mu(X[0])", "the switches mask, "),
    ],
)
def test_a_word_of_a_switch_and_a_letter_for_a_constant_are_told(claim: str, said: str) -> None:
    with pytest.raises(rm.InvalidArgument, match=re.escape(said)):
        rm.Statement("mine:x", claim)


@pytest.mark.parametrize("k", [0, 3])
def test_what_is_not_defined_says_where_it_is(k: int) -> None:
    net = rm.Network.random(tokens=2, dim=2, layers=1, seed=0)
    statement = rm.Statement("mine:k", f"modulus_of(P0[0,0], {k}) <= 1")
    with pytest.raises(
        rm.InvalidArgument, match=f"modulus_of is not defined at {k} for its 2 tokens.*not defined beyond n"
    ):
        rm.verify(statement, net, np.eye(2))
