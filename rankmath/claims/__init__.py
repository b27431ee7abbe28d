"""The theorems, one object each: what is claimed, of what, under which hypotheses, what is known of it."""
