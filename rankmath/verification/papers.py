"""The papers the statements come from: how each is named, once. Their bibliography is proofs/references.bib."""

from __future__ import annotations

DONG = "Dong, Cordonnier and Loukas 2021 (arXiv 2103.03404)"
WU = "Wu, Ajorlou, Wang, Jegelka and Jadbabaie 2024 (arXiv 2405.18781)"
OWN = "this library"
WANG = "Wang, Zheng, Chen and Wang 2022 (arXiv 2203.05962)"
GUO = "Guo, Wang, Du and Wang 2023 (arXiv 2303.06562)"
WU_BIAS = "Wu, Wang, Jegelka and Jadbabaie 2025 (arXiv 2502.01951)"
ZHAI = "Zhai and others 2023, Stabilizing transformer training (arXiv 2303.06296)"
BHOJANAPALLI = "Bhojanapalli, Yun, Rawat, Reddi and Kumar 2020 (arXiv 2002.07028)"
JOUDAKI = "Joudaki, Daneshmand and Bach 2023 (arXiv 2305.18399)"
HE = "He and others 2023, Deep transformers without shortcuts (arXiv 2302.10322)"
VELICKOVIC = "Veličković, Perivolaropoulos, Barbero and Pascanu 2024 (arXiv 2410.01104)"
NOCI = "Noci, Anagnostidis, Biggio, Orvieto, Singh and Lucchi 2022 (arXiv 2206.03126)"
BARBERO = "Barbero and others 2024, Transformers need glasses (arXiv 2406.04267)"
CASTIN = "Castin, Ablin and Peyré 2024 (arXiv 2312.14820)"
GESHKOVSKI = "Geshkovski, Letrouit, Polyanskiy and Rigollet 2023 (arXiv 2312.10794)"
KIM = "Kim, Papamakarios and Mnih 2021 (arXiv 2006.04710)"
JOSEPH = "Joseph, Sieber, Zeilinger and Amo Alonso 2024 (arXiv 2410.10609)"
KARAGODIN = "Karagodin, Polyanskiy and Rigollet 2024 (arXiv 2411.04990)"
YUDIN = "Yudin, Gaponov, Kudriashov and Rakhuba 2025 (arXiv 2507.07814)"
KARAGODIN_NORMS = "Karagodin and others 2025, Normalization in attention dynamics (arXiv 2510.22026)"
CIRRINCIONE = "Cirrincione 2026 (arXiv 2604.23681)"
ALCALDE = "Alcalde and others 2025, Attention's forward pass and Frank-Wolfe (arXiv 2508.09628)"
ALMAN = "Alman and Song 2025 (arXiv 2505.16284)"
RIGOLLET = "Rigollet 2025, The mean-field dynamics of transformers (arXiv 2512.01868)"
CHEN = "Chen, Lin, Polyanskiy and Rigollet 2026 (arXiv 2510.05554)"
CHEN_MEAN = "Chen, Lin, Polyanskiy and Rigollet 2025 (arXiv 2504.14697)"
GESHKOVSKI_SLOW = "Geshkovski, Koubbi, Polyanskiy and Rigollet 2024 (arXiv 2410.06833)"
POLYANSKIY = "Polyanskiy, Rigollet and Yao 2025 (arXiv 2507.22857)"
KOUBBI = "Koubbi and others 2026, Homogenized transformers (arXiv 2604.01978)"
SHI = "Shi and others 2022, Revisiting over-smoothing in BERT (arXiv 2202.08625)"

#: Neighbouring papers by the prefix of their keys: the page docs/field.md has a row for each statement near them.
FIELD = {
    "wang2022": WANG,
    "contranorm2023": GUO,
    "wu2025": WU_BIAS,
    "castin2024": CASTIN,
    "zhai2023": ZHAI,
    "noci2022": NOCI,
    "barbero2024": BARBERO,
    "geshkovski2023": GESHKOVSKI,
    "geshkovski2024": GESHKOVSKI_SLOW,
    "karagodin2024": KARAGODIN,
    "karagodin2025": KARAGODIN_NORMS,
    "alcalde2025": ALCALDE,
    "alman2025": ALMAN,
    "cirrincione2026": CIRRINCIONE,
    "rigollet2025": RIGOLLET,
    "polyanskiy2025": POLYANSKIY,
    "koubbi2026": KOUBBI,
    "chen2025": CHEN_MEAN,
    "chen2026": CHEN,
    "yudin2025": YUDIN,
    "kim2021": KIM,
    "bhojanapalli2020": BHOJANAPALLI,
    "joudaki2023": JOUDAKI,
    "joseph2024": JOSEPH,
    "he2023": HE,
    "shi2022": SHI,
    "velickovic2024": VELICKOVIC,
}
