"""How tokens move: the plain pass, the centred pass, paths, LayerNorm."""
