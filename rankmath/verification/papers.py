"""The papers the statements come from: how each is named, once. Their bibliography is proofs/references.bib."""

from __future__ import annotations

DONG = "Dong, Cordonnier and Loukas 2021 (arXiv 2103.03404)"
WU = "Wu, Ajorlou, Wang, Jegelka and Jadbabaie 2024 (arXiv 2405.18781)"
OWN = "this library"
