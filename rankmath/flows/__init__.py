"""Tokens that flow on the sphere in continuous time: the field, its equilibria with proofs, trajectories."""
