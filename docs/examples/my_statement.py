"""Two claims about one attention layer: run `rankmath verify docs/examples/my_statement.py`."""

from rankmath.claims.quantities import Run, induced_norm, log

from rankmath.verification.draws import moderate_tokens, networks
from rankmath.verification.instance import network_instance
from rankmath.verification.statement import Evaluation, Side, Statement


def shrinks_by(factor):
    """Δ₁(SA(X)) ≤ factor · ‖W‖ Δ₁(X) for one layer and one head, in log scale and in any arithmetic."""

    def evaluate(A, instance):
        run = Run(A, instance.net, instance.X)
        norm = induced_norm(run.A, run.weight(run.net.W, 0, 0), 1)
        bound = log(run.A, run.A.constant(factor)) + log(run.A, norm) + run.log_diameter(0, 1)
        return Evaluation([Side(run.log_diameter(1, 1), bound)])

    return evaluate


def claim(key, factor, status):
    return Statement(
        key=key,
        title=f"attention contracts the l1 diameter by {factor}",
        claim=rf"\Delta_1(\mathrm{{SA}}(X))\le {factor}\,\|W\|_\infty\Delta_1(X)",
        source="an example of the documentation",
        status=status,
        truth="rows of PX are convex combinations of tokens" if status == "proved" else "a drawn instance",
        instance=network_instance,
        evaluate=shrinks_by(factor),
        draws=(networks(moderate_tokens, shapes=((3, 2, 1, 1), (6, 3, 1, 1))),),
    )


never_grows = claim("example:never-grows", 1, "proved")
always_halves = claim("example:always-halves", 0.5, "refuted")
