"""The papers the statements come from: how each is named, once. Their bibliography is proofs/references.bib."""

from __future__ import annotations

DONG = "Dong, Cordonnier and Loukas 2021 (arXiv 2103.03404)"
WU = "Wu, Ajorlou, Wang, Jegelka and Jadbabaie 2024 (arXiv 2405.18781)"
OWN = "this library"
NOCI = "Noci, Anagnostidis, Biggio, Orvieto, Singh and Lucchi 2022 (arXiv 2206.03126)"
BARBERO = "Barbero and others 2024, Transformers need glasses (arXiv 2406.04267)"
CASTIN = "Castin, Ablin and Peyré 2024 (arXiv 2312.14820)"
GESHKOVSKI = "Geshkovski, Letrouit, Polyanskiy and Rigollet 2023 (arXiv 2312.10794)"
KIM = "Kim, Papamakarios and Mnih 2021 (arXiv 2006.04710)"
JOSEPH = "Joseph, Sieber, Zeilinger and Amo Alonso 2024 (arXiv 2410.10609)"
SHI = "Shi and others 2022, Revisiting over-smoothing in BERT (arXiv 2202.08625)"
