"""Bounds as sympy expressions, derived and proved; `bounds.bound` hands them out by key."""
