"""Text stays text, and numbers keep their meaning on the way into LaTeX."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankmath.certificates.certificate import exact as exact_notation
from rankmath.formula.prose import escape, formulas
from rankmath.report.latex import (
    at_least,
    breakable,
    code,
    exact,
    exact_data,
    exact_math,
    fitting,
    grouped,
    identifier,
    measured,
    number,
    points,
)

# Everything `escape` may write that is not a letter of the text itself.
_OURS = re.compile(
    r"\\text(?:backslash|asciicircum|asciitilde)\{\}|\\dots\{\}|\\[{}$&#%_]|\$\\sqrt\{\w\}\$|\$[_^]\{\d+\}\$|"
    r"\$\\[a-z|]+\$|\$\\Delta\$|\$\\Lambda\$|\$\\Sigma\$|\$[-<>|]\$"
)


@given(st.text())
def test_nothing_in_a_text_can_become_a_command(text: str) -> None:
    left = _OURS.sub("", escape(text))
    assert not set(left) & set("\\{}$&#%_^~"), left
    # pdflatex reads what is left: printable Latin letters, or a name in brackets.
    assert all(c in "\n\t" or 0x20 <= ord(c) < 0x17F for c in left)


@pytest.mark.parametrize(
    ("text", "tex"),
    [
        (r"\input{/etc/passwd}", r"\textbackslash{}input\{/etc/passwd\}"),
        ("no faster than 1/√L", r"no faster than 1/$\sqrt{L}$"),
        ("‖W‖₁ ≤ β", r"$\|$W$\|$$_{1}$ $\le$ $\beta$"),
        ("3² − 1", r"3$^{2}$ $-$ 1"),
        ("漢", "[U+6F22]"),
    ],
)
def test_signs_become_mathematics(text: str, tex: str) -> None:
    assert escape(text) == tex


def test_identifiers_break_but_lose_nothing() -> None:
    name = "rm-0123456789abcdef0123456789abcdef"
    assert identifier(name).replace(r"\allowbreak ", "") == rf"\texttt{{{name}}}"
    assert code("dong2021:2.3-printed").replace(r"\allowbreak ", "") == r"\texttt{dong2021:2.3-printed}"


@given(st.fractions(), st.integers(1, 12))
def test_a_decimal_is_cut_off_never_rounded_up(x: Fraction, places: int) -> None:
    shown = Fraction(at_least(x, places))
    assert shown <= x < shown + Fraction(1, 10**places)


@given(st.one_of(st.integers(), st.fractions(), st.floats(allow_nan=False, allow_infinity=False)))
def test_a_certificate_number_is_read_back_exactly(x: float) -> None:
    assert number(exact_notation(x)) == Fraction(x)


@given(st.fractions())
def test_an_exact_number_shows_its_numerator_and_denominator(x: Fraction) -> None:
    shown = exact(x).replace(r"\,", "")
    digits = [int(d) for d in re.findall(r"\d+", shown)]
    assert digits == ([abs(x.numerator)] if x.denominator == 1 else [abs(x.numerator), x.denominator])
    assert ("-" in shown) == (x < 0)


@given(st.floats(1e-300, 1e300))
def test_a_measured_number_is_right_to_its_last_digit(x: float) -> None:
    if "digits" in measured(x):
        assert abs(math.log(x)) < 1e-15
        return
    shown = re.fullmatch(r"\\ensuremath\{(1[-+])?([\d.]+)?(?:\\cdot)?(?:10\^\{(-?\d+)\})?\}", measured(x))
    assert shown, measured(x)
    value = float(shown[2] or 1) * 10.0 ** int(shown[3] or 0)
    if shown[1]:
        assert 0 < abs(1 - x) < 1.001e-3
        assert (shown[1] == "1+") == (x > 1)
        assert abs(value - abs(1 - x)) <= 0.051 * abs(1 - x) + 2e-16
    else:
        assert abs(value - x) <= 0.00051 * x


def test_just_below_one_is_not_printed_as_one() -> None:
    assert measured(1 - 2.0**-40) == r"\ensuremath{1-9.1\cdot10^{-13}}"
    assert measured(1 - 2.0**-53) == measured(1.0) == r"\ensuremath{1\text{ to 15 digits}}"


def test_nested_data_are_shown_field_by_field() -> None:
    data = {"layers": [{"heads": [{"W": [[1, "1*2^-1"]]}], "bias": [0]}], "norm": "l2", "P": [[[1]], [[2]]]}
    assert list(exact_data(data)) == [
        r"\text{layers[0].heads[0].W}=\begin{pmatrix}1&\tfrac{1}{2}\end{pmatrix}",
        r"\text{layers[0].bias}=\begin{pmatrix}0\end{pmatrix}",
        r"\text{norm}=\text{l2}",
        r"P^{(0)}=\begin{pmatrix}1\end{pmatrix}",
        r"P^{(1)}=\begin{pmatrix}2\end{pmatrix}",
    ]


def test_thousands_are_set_apart() -> None:
    assert grouped(-1234567) == r"-1\,234\,567"


def test_a_matrix_wider_than_a_page_is_shown_to_six_digits_or_named() -> None:
    third = "1" * 40 + "/" + "3" * 39 + "7"
    (narrow,), (wide,), (widest,) = (list(exact_data({"A": [[third] * k]})) for k in (1, 4, 30))
    assert narrow == rf"A=\begin{{pmatrix}}{exact_math(number(third))}\end{{pmatrix}}"
    assert wide == r"A\approx \begin{pmatrix}" + "&".join(["0.333333"] * 4) + r"\end{pmatrix}"
    assert widest == r"A\in\mathbb{Q}^{1\times30}\text{, in the certificate}"


def test_a_formula_for_running_text_says_the_same_with_its_words_outside() -> None:
    tex = r"\text{every }W^{l}\text{ is }a_{\text{b}}\,c \le 1\quad\text{for all }l"
    said = breakable(tex)
    outside = "".join(said.split("$")[::2])
    assert outside.split() == ["every", "is", "for", "all"]
    assert r"a_{\text{b}}\,\allowbreak c \le 1" in said


@pytest.mark.parametrize(
    ("text", "tex"),
    [
        ("for |λ| ≥ 2‖W‖₂: no", r"for $|\lambda| \ge 2\|W\|_{2}$: no"),
        ("x ≤ y. Then β ≥ 1.", r"$x \le y$. Then $\beta \ge 1$."),
        ("a β of the layer, e^(−σ)", r"a $\beta$ of the layer, $e^{-\sigma}$"),
        ("5 % of it, at $3", r"5 \% of it, at \$3"),
        ("a token x of a rank a, in (−1, 1]", r"a token $x$ of a rank $a$, in $(-1, 1]$"),
        ("W'^A₁, x_k' = 0", r"$W'^{A}_{1}$, $x'_{k} = 0$"),
        ("33/25 < 8/5 (arXiv 2411.04990)", r"$33/25 < 8/5$ (arXiv 2411.04990)"),
        ("−s g((b + 1)s)/h(bs), s = πw", r"$-s g((b + 1)s)/h(bs)$, $s = \pi w$"),
        (
            "dx_i/dt = Σ_k P_ik (x_k − ⟨x_k, x_i⟩x_i)",
            r"$dx_{i}/dt = \sum_{k} P_{ik} (x_{k} - \langle x_{k}, x_{i}\rangle x_{i})$",
        ),
        ("last_share(i), own:tv, 2nd, E-SPA (see W)", r"last\_share($i$), own:tv, 2nd, E-SPA (see $W$)"),
        ("X − 1xᵀ, 11ᵀ/n, 1_M", r"$X - \mathbf 1x^{\mathsf T}$, $\mathbf 1\mathbf 1^{\mathsf T}/n$, $\mathbf 1_{M}$"),
        ("1ᵀ(A)⁻¹1 and e^−β", r"$\mathbf 1^{\mathsf T}(A)^{-1}\mathbf 1$ and $e^{-\beta}$"),
        ("x ≤ (see below), ‖x of", r"$x$ $\le$ (see below), $\| x$ of"),
    ],
)
def test_formulas_in_words_are_set_as_one(text: str, tex: str) -> None:
    assert formulas(text) == tex


def test_greek_letters_under_a_root_and_gradients_are_mathematics() -> None:
    assert formulas("of order √ε, ‖∇‖²") == r"of order $\sqrt{\varepsilon}$, $\|\nabla\|^{2}$"
    assert escape("√ε") == r"$\sqrt{\varepsilon}$"
    assert formulas("the flow x_k' = 0, u′ = 1") == r"the flow $x'_{k} = 0$, $u' = 1$"


@pytest.mark.parametrize(
    ("text", "tex"),
    [
        ("W = I, no bias", "$W = I$, no bias"),
        ("Q = K = V = I and W_V = I + wS", "$Q = K = V = I$ and $W_{V} = I + wS$"),
        ("P = I and W = λI), and", r"$P = I$ and $W = \lambda I$), and"),
        ("I rest. A = If", "I rest. $A$ = If"),
    ],
)
def test_the_identity_is_a_letter_of_mathematics(text: str, tex: str) -> None:
    assert formulas(text) == tex


@pytest.mark.parametrize(
    ("math", "of_tex"),  # the width of \\hbox{$\\displaystyle ...$} in an article, in points
    [
        (r"\frac{e^{\beta\,(1-u)}+m-1}{2\,(1-u)\,(1+(m-1)\,u)}", 107.6),
        (r"\sqrt{c\,\bigl(1 + \Bigl(\frac{a\,R\,\Delta_{2}(X^{0})}{2}\Bigr)^{2}\bigr)}", 111.7),
        (r"\frac{\max_{l} \sum_{h} \|W^{l,h}\|_{2}\,\|W_{QK}^{l,h}\|_{2}}{4\,\sqrt{d_{qk}}}", 118.2),
        (r"\frac{(1-\rho)^{2}\,(1-\gamma)}{(1-\rho)^{2}+\rho\,(2-2\,\rho+m\,\rho)\,(1+(m-1)\,\gamma)}", 188.6),
        (r"\frac{\sum_{h} \|\operatorname{diag}(g)W^{l,h}\|_2\,\tau(P^{l,h})}{\rho_{l}}", 121.2),
    ],
)
def test_the_width_of_a_formula_is_about_that_of_tex(math: str, of_tex: float) -> None:
    assert 0.95 * of_tex < points(math) < 1.2 * of_tex
    assert (r"\rankmathfit" in fitting(math)) == (of_tex > 155)


@given(st.text(alphabet="abAWx_^{}()[]‖|⟨⟩√Σ·…*'0129 ,−-+=<>/\\$%&#αβᵀ²₁½", max_size=40))
def test_what_reads_as_a_formula_is_closed_whatever_the_text(text: str) -> None:
    """Dollars and braces come in pairs, in a formula no sign of TeX stands bare, and no letter is lost."""
    tex = formulas(text)
    outside = re.split(r"(?<!\\)\$", tex)
    assert len(outside) % 2 == 1
    for place, piece in enumerate(outside):
        depth = 0
        for brace in re.findall(r"(?<!\\)[{}]", piece):
            depth += 1 if brace == "{" else -1
            assert depth >= 0
        assert depth == 0
        assert not re.search(r"(?<!\\)[%&#]", piece)
        if place % 2:
            assert not re.search(r"\^\{[^{}]*\}\^|_\{[^{}]*\}_", piece)
        else:
            assert not re.search(r"(?<!\\)[_^]", piece.replace(r"\textasciicircum{}", ""))
    bare = re.sub(r"\\(?:mathrm|operatorname)\{(\w*)\}|\\[A-Za-z]+", lambda m: m[1] or "", tex)
    assert re.sub("[^abAWx]", "", bare) == re.sub("[^abAWx]", "", text)
