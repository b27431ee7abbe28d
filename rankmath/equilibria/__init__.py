"""LayerNorm equilibria: the map, constructions, searches, proofs in balls; tokens that flow on the sphere."""
