"""The layer step: plain and centred attention, per-token maps, norms of tokens."""
