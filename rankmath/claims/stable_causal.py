"""own:stable-causal: an exponentially stable causal equilibrium of rank two, in closed form."""

from dataclasses import replace
from fractions import Fraction

from rankmath.certificates.certificate import Certificate
from rankmath.certificates.issue import issue
from rankmath.formula.arrays import ArrayRun, Truth, defined, predicate
from rankmath.verification.claim import ArrayInstance, Rng, exact_batch, ours
from rankmath.verification.papers import OWN, WU


@predicate(
    "stable_pair(parameters: array, dim: array)",
    latex=r"W_V=cI_{{d-2}}\oplus\begin{{pmatrix}}a&w\\0&1\end{{pmatrix}}\text{{ with the causal mask and "
    r"}}W_{{QK}}=0\text{{ has the equilibrium }}"
    r"X_0=e_{{d-1}},\ X_1=pe_{{d-2}}+qe_{{d-1}}\text{{ of rank two, }}"
    r"w^2(1-q^2)=(1+(1-a)q)^2,\ q<a-1,\ p=-(1+(1-a)q)/w,"
    r"\text{{ with eigenvalues }}a,\tfrac{{1+q}}a\text{{ and, for }}d>2,\ c,\tfrac ca\text{{, all below }}1",
    because="a solution of equations and the eigenvalues of a Jacobian, by computer algebra",
)
def stable_pair(run: ArrayRun, parameters: str, dim: str) -> Truth:
    """W_V = cI_{d−2} ⊕ [[a, w], [0, 1]] with the causal mask and W_QK = 0 has the equilibrium of two tokens
    X_0 = e_{d−1}, X_1 = pe_{d−2} + qe_{d−1}, counted from 0, of rank two, where w²(1 − q²) = (1 + (1 − a)q)², q <
    a − 1 and p = −(1 + (1 − a)q)/w; the eigenvalues of its Jacobian on the tangent spaces are a, (1 + q)/a and,
    for d > 2, c, c/a, all below 1; a, w, c are the parameters, d the dimension; by exact algebra"""
    import sympy as sp

    from rankmath.equilibria.wu2024 import stable_causal_example

    a, w, c = run[parameters].tolist()
    d = int(run[dim])
    example = stable_causal_example(a, w, c, d)
    equilibrium = example.equilibrium
    rests = equilibrium.is_equilibrium() and sp.expand(equilibrium.minor()) != 0
    z = sp.Symbol("z")
    eigenvalues = example.eigenvalues[: d - 1], example.eigenvalues[d - 1 :]
    # With x fixed, token i moves by h ↦ h W_V(I − xᵀx)/(i·scale); causal, so the Jacobian is block triangular.
    for i, claimed in enumerate(eigenvalues):
        x = equilibrium.X.row(i)
        block = equilibrium.W_V * (sp.eye(d) - x.T * x) / ((i + 1) * equilibrium.scales[i])
        polynomial = block.charpoly(z).as_expr() - z * sp.prod(z - number for number in claimed)
        rests = rests and sp.expand(polynomial) == 0
    below = all(bool(abs(number) < 1) for number in example.eigenvalues)
    values = ", ".join(str(number) for number in example.eigenvalues)
    return Truth(bool(rests and below), f"a = {a}, w = {w}, c = {c}: eigenvalues {values}")


defined(
    "stable_range(parameters: array)",
    "a = parameters[0]; w = parameters[1]; c = parameters[2]; 0 < c < a < 1 and w**2 > a*(2 - a)",
    "0 < c < a < 1 and w² > a(2 − a)",
    by_name=True,
)


def draw_stable_causal(rng: Rng, size: int) -> ArrayInstance:
    """a = ½, w = 1 first (eigenvalues ½ and 2/5); then rational points of the family."""
    parameters, dims = [[Fraction(1, 2), Fraction(1), Fraction(1, 4)]], [2]
    while len(parameters) < size:
        a = Fraction(int(rng.integers(1, 20)), 20)
        t = Fraction(int(rng.integers(11, 80)), 10)
        # q = −(t² − 1)/(t² + 1) makes √(1 − q²) = 2t/(t² + 1) rational, and with it w.
        q, root = -(t * t - 1) / (t * t + 1), 2 * t / (t * t + 1)
        if q < a - 1:
            w = (1 + (1 - a) * q) / root
            parameters.append([a, w, a * Fraction(int(rng.integers(1, 10)), 10)])
            dims.append(int(rng.integers(2, 5)))
    return exact_batch("rational", parameters=parameters[:size], dim=dims[:size])


def exhibit_stable_causal() -> Certificate:
    """a = ½, w = 1: (0, 1) and (−3/5, −4/5), eigenvalues ½ and 2/5, with a set of starts that it attracts."""
    from rankmath.equilibria.certify import certify_equilibrium
    from rankmath.equilibria.wu2024 import stable_causal_example

    X, W_V, W_QK = stable_causal_example().equilibrium.floats()
    proof = certify_equilibrium(X, W_V, W_QK, "causal", rank=2, stable=True).certificate()
    return issue(replace(proof, statement="own:stable-causal", claim="", given=()))


own_stable_causal = ours(
    "own:stable-causal",
    "stable_pair(parameters, dim)",
    given="stable_range(parameters)",
    arrays={"parameters": "3", "dim": ", whole, >= 2"},
    source=f"{OWN}, beside Theorem 3 of {WU}",
    title="An exponentially stable causal equilibrium of rank two",
    draws=(draw_stable_causal,),
    exhibit=exhibit_stable_causal,
    share=0.03,
    notes="The map is X ↦ LN(AXW_V), A_ij = 1/(i + 1) for j ≤ i, LN the division of every token by its norm.",
)
