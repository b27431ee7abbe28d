"""joudaki2023:isometry: dividing tokens by their lengths makes them more isometric; and by how much exactly."""

from rankmath.formula.arrays import defined
from rankmath.verification.claim import ArrayInstance, Rng, proved
from rankmath.verification.draws import written
from rankmath.verification.papers import JOUDAKI

defined(
    "isometry(X: array)",
    "n*det(X @ T(X))**(1/n)/sum(X[i][a]**2 for i in range(n) for a in range(len(X[0])))",
    "det(XXᵀ)^(1/n) over the mean squared length of a token: 1 where tokens are orthogonal and of one length",
    example="isometry(X) <= 1",
    by_name=True,
)
defined(
    "unit_isometry(X: array)",
    "U = [[X[i][a]/sqrt(sum(X[i][b]**2 for b in range(len(X[0])))) for a in range(len(X[0]))] for i in range(n)]; "
    "det(U @ T(U))**(1/n)",
    "the same of the tokens divided by their lengths",
    example="unit_isometry(X) <= 1",
    by_name=True,
)
defined(
    "length_spread(X: array)",
    "l = [sqrt(sum(X[i][a]**2 for a in range(len(X[0])))) for i in range(n)]; m = sum(l[i] for i in range(n))/n; 1 + "
    "sum((l[i] - m)**2 for i in range(n))/(n*m**2)",
    "1 + variance over squared mean of the lengths of tokens",
    example="length_spread(X) >= 1",
    by_name=True,
)


def draw_tokens(rng: Rng, size: int) -> ArrayInstance:
    """Random directions, lengths over several orders of magnitude."""
    n = int(rng.integers(2, 6))
    X = rng.standard_normal((size, n, n + int(rng.integers(1, 3))))
    X *= 10.0 ** (rng.uniform(0, 1, (size, 1, 1)) * rng.standard_normal((size, n, 1)))
    return ArrayInstance({"X": X}, "random", is_batch=True)


joudaki2023_isometry = proved(
    "joudaki2023:isometry",
    "isometry(X)*length_spread(X) <= unit_isometry(X)",
    given="isometry(X) > 0",
    arrays={"X": "n d, independent rows"},
    title="Isometry of tokens divided by their lengths, as we read it",
    source=f"{JOUDAKI}, on normalisation and isometry, from memory",
    draws=(draw_tokens,),
    # Lengths that nearly agree: nearly an equality.
    extremal=written("given", {"X": [[1, 0, 0], [0.5, 0.866, 0]]}),
    share=0.5,
    notes="The quotient of the two isometries is exactly the mean squared length over the squared geometric mean of "
    "the lengths.",
)
