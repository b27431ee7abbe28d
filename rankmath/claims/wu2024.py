"""Wu, Ajorlou, Wang, Jegelka and Jadbabaie 2024 (arXiv 2405.18781), statement by statement, and what became of it.

Masks slow collapse down (`wu2024:1`), orthogonal values cannot stop it under sphere LayerNorm (`wu2024:2`,
`wu2024:cor1`, `own:hemisphere`), other values can (all the statements on equilibria).
"""

from __future__ import annotations

from rankmath.claims import wu2024_equilibria, wu2024_masks, wu2024_shift, wu2024_sphere

STATEMENTS = (
    *wu2024_masks.STATEMENTS,
    *wu2024_sphere.STATEMENTS,
    *wu2024_shift.STATEMENTS,
    *wu2024_equilibria.STATEMENTS,
)
