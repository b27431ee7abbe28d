"""Two claims about one attention layer: run `rankmath verify docs/examples/my_statement.py`."""

import rankmath as rm
from rankmath.formula import W, X, diameter, norm
from rankmath.verification.draws import moderate_tokens, networks

# Three tokens in the plane, or six in space; one head, one layer.
one_layer = (networks(moderate_tokens, shapes=((3, 2, 1, 1), (6, 3, 1, 1))),)
bound = norm(W[0, 0], "inf") * diameter(X[0], 1)

never_grows = rm.Statement(
    "example:never-grows",
    diameter(X[1], 1) <= bound,
    given="heads == 1",
    title="attention does not expand the l1 diameter",
    status="proved",
    truth="rows of PX are convex combinations of tokens",
    source="an example of the documentation",
    draws=one_layer,
)

always_halves = rm.Statement(
    "example:always-halves",
    diameter(X[1], 1) <= bound / 2,
    given="heads == 1",
    title="attention halves the l1 diameter",
    source="an example of the documentation",
    draws=one_layer,
)
