"""LayerNorm equilibria: the map, constructions, searches, and proofs in balls."""
