"""Attention: the layer step (plain and centred, per-token maps), and all layers: trace, decay, paths, basins."""
