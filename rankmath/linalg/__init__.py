"""Pure functions on matrices: stochastic matrices, norms, diameters, residuals, masks as graphs.

Import from the modules (``from rankmath.linalg.norms import spectral``): this package loads nothing by itself.
"""
