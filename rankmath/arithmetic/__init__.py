"""The number systems one algorithm runs on: float64 (NumPy, CuPy, …), mpmath, balls.

Each offers the same few functions over arrays; `+ - * /` and comparison come from the arrays themselves.
"""
