"""The theorems, one object each: what is claimed, of what, under which hypotheses, and what is known of its truth."""
