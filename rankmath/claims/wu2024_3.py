"""wu2024:3: one value matrix under the causal mask has equilibria of every rank."""

from fractions import Fraction

from rankmath.certificates.certificate import Certificate
from rankmath.certificates.issue import issue
from rankmath.formula.arrays import ArrayRun, Truth, defined, predicate
from rankmath.verification.claim import ArrayInstance, Rng, exact_batch, proved
from rankmath.verification.papers import WU


@predicate(
    "every_rank(sizes: array, w: array)",
    latex=r"\text{{under the causal mask, }}W_{{QK}}=0,\ W_V=I+{1}S,\text{{ for every }}1\le k\le\min(n,d)"
    r"\text{{ there is an }}X\text{{ of rank }}k\text{{ with }}\mathrm{{LN}}(AXW_V)=X",
    because="solutions of equations, by computer algebra",
)
def every_rank(run: ArrayRun, sizes: str, w: str) -> Truth:
    """under the causal mask, W_QK = 0 and W_V = I + wS (S with ones on the superdiagonal) there is for every
    1 ≤ k ≤ min(n, d) an X of unit rows and rank k with AXW_V = DX, D > 0 diagonal, n and d the two sizes, of tokens
    and dimensions, A_ij = 1/(i + 1) for j ≤ i; by exact algebra"""
    from rankmath.equilibria.wu2024 import shift_equilibrium

    (n, d), number = (int(k) for k in run[sizes]), run[w]
    for k in range(1, min(n, d) + 1):
        equilibrium = shift_equilibrium(n, d, k, number)
        distinct = len({tuple(row) for row in equilibrium.X.tolist()})
        if not (equilibrium.is_equilibrium() and distinct == k and equilibrium.minor() != 0):
            return Truth(False, f"rank {k} fails for n = {n}, d = {d}, w = {number}")
    return Truth(True, f"ranks 1 to {min(n, d)} under one W_V, n = {n}, d = {d}, w = {number}, exact algebra")


defined("tokens_of(sizes: array)", "sizes[0]", "the number of tokens", example="tokens_of(sizes) >= 1")


def exhibit_every_rank(tokens: int = 6, dim: int = 5, w: int = 7) -> Certificate:
    """Equilibria of all ranks under one W_V, each proved in balls, in one certificate."""
    from rankmath.equilibria.certify import certify_equilibrium
    from rankmath.equilibria.wu2024 import shift_equilibrium

    proofs = []
    for k in range(1, min(tokens, dim) + 1):
        X, W_V, W_QK = shift_equilibrium(tokens, dim, k, w).floats()
        proofs.append(certify_equilibrium(X, W_V, W_QK, "causal", rank=k).certificate())
    resting = ("tokens", "radius", "rank")
    data = {name: value for name, value in proofs[0].data.items() if name not in resting}
    data["equilibria"] = [{name: proof.data[name] for name in resting} for proof in proofs]
    hints = {"equilibria": [proof.hints for proof in proofs]}
    return issue(Certificate("wu2024:3", "exists", data, hints), decided=True)


def draw_shifts(rng: Rng, size: int) -> ArrayInstance:
    """n = 6, d = 5 first."""
    sizes, numbers = [(6, 5)], [Fraction(7)]
    while len(sizes) < size:
        n = int(rng.integers(1, 7))
        sizes.append((n, int(rng.integers(1, 7))))
        numbers.append(n - 1 + Fraction(int(rng.integers(1, 50)), 10))
    return exact_batch("shift", sizes=sizes[:size], w=numbers[:size])


wu2024_3 = proved(
    "wu2024:3",
    "every_rank(sizes, w)",
    given="w > tokens_of(sizes) - 1",
    arrays={"sizes": "2, whole, >= 1", "w": ""},
    title="One value matrix with equilibria of every rank",
    source=f"{WU}, Theorem 3, item 1",
    draws=(draw_shifts,),
    exhibit=exhibit_every_rank,
    share=0.03,
    cost=2,
    notes="So X = LN(AXW_V), LN the division of every token by its norm.",
)
