"""The independent checker: standard library only."""
