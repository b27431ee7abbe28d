"""Each statement beside its theorem in Coq: read from theorems.toml and the .v files, so that it cannot go stale.

`DICTIONARY` says which Coq words mean a quantity or a hypothesis of the language of claims; tests/coq holds every
formula against its theorem with it.
"""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

from rankmath.files import proofs_folder
from rankmath.report.sources import slug
from rankmath.verification.statement import Statement

Row = dict[str, str]

#: A quantity or hypothesis of a formula, and the words of which a theorem about it has at least one.
DICTIONARY = {
    "W": "W WV values kappa layer_bounds onehead",
    "W_QK": "WQK kappa layer_bounds sphere_map",
    "P": "attn plain_attention sphere_attention row_stochastic P_path delta_of q_of gamma_of sphere_map",
    "d_qk": "dqk rate kappa",
    "x_star": "x_star_is xs exp",
    "tv": "tv",
    "tanh": "tanh rate",
    "osc": "osc D",
    "recursion": "phi_iter gap_bound",
    "diameter": "diam dot",
    "operator_norm": "layer_bounds",
    "form_norm": "layer_bounds",
    "normalised_norm": "column_scaled",
    "norm(1)": "norm1",
    "norm(inf)": "norminf",
    "norm(max)": "maxentry",
    "norm(2)": "layer_bounds l2",
    "norm(composite)": "comp",
    "residual(composite)": "residual comp",
    "residual(inf)": "residual norminf",
    "residual(frobenius)": "residual frob",
    "about_mean": "mean",
    "composite": "comp",
    "composite_sum": "madd",
    "relative_gain": "tilt",
    "relative_loss": "tilt",
    "delta": "delta_of D_of delta",
    "gamma": "gamma_of",
    "q_max": "qmax_of qmax",
    "q_min": "qmin",
    "least_singular": "sigma",
    "definiteness": "bil",
    "definite": "bil",
    "invertible": "sigma",
    "expc": "expc",
    "tanhc": "tanhc",
    "lipschitz": "lipschitz lip lam",
    "mu": "mu",
    "section": "gnomonic",
    "height": "gamma",
    "gram_height": "dot",
    "cosine": "dot",
    "epsilon": "eps",
    "logit_range": "logit",
    "in_degree": "Delta",
    "product_norm": "values",
    "contraction": "doeblin",
    "stochastic_product": "row_stochastic",
    "row_stochastic": "row_stochastic",
    "sum_of_paths": "sum_paths",
    "disjoint_blocks": "WV",
    "self_loops()": "centre G",
    "quasi_strongly_connected()": "centre",
    "strongly_connected()": "centre",
    "orthogonal_values()": "orthogonal",
    "causal_identity_attracts": "attracts",
    "path_attracts": "attracts",
    "rank_two_attracts": "attracts",
    "attracts_at_full_rank": "attracts",
    "stable_pair": "attracts",
    "none_attracts": "attracts",
    "spares_an_open_set": "within",
    "collapsing_neighbours": "within",
    "collapses": "mu",
    "at_rest": "fixed",
    "every_rank": "has_rank",
    "spectral_gap": "frob",
    "two_token_equilibria": "rest",
    "stays_far": "shift_step",
    "stays_in_repaired_set": "invariant_set",
    "low_pass": "HC",
    "erank": "effective_rank",
    "softmax_slope": "softmax jacobian",
    "largest_share": "softmax",
    "least_share": "softmax",
    "subdominant": "Cmod",
    "mixing": "tv",
    "real_attention": "csum",
    "real_spectrum": "csum",
    "symmetric": "K",
    "reachable": "attention",
    "some_unreachable": "attention",
    "independent": "eye",
    "dependent": "v",
    "softmax_rank": "attention",
    "equiangular_flow": "speed",
    "no_gradient": "is_derive",
    "equal_tokens": "Z",
    "weight_gradient": "is_derive",
    "value_spread": "vmat",
    "logit_shift": "bil",
    "share": "steps",
    "least_within": "eps",
    "steps": "steps",
    "windowed": "row_stochastic windowed",
    "tail": "tail_from",
    "received": "distance2",
    "distinct": "distinct",
    "repeat_gap": "repeated star",
    "prefixed": "prefixed",
    "least_prefixed": "eps",
    "prefix_floor": "steps",
    "decay_tightness": "decayed",
    "entropy_floor": "entropy_floor",
    "closing": "closing",
    "closing_usa": "closing",
    "cosines": "cosines",
    "least_cosine": "least_pair",
    "normed_mu": "sphere",
    "row_mu": "mu",
    "length_mu": "mu",
    "least_length": "l2",
    "decay_constant": "decayed",
    "spread": "Imax",
    "kept": "kept",
    "high_square": "HC",
    "low_square": "DC",
    "stationary_mean": "pi",
    "dobrushin_of": "tv",
    "range_of": "osc",
    "jacobian_norm": "is_derive",
    "distance_jacobian_norm": "is_derive",
    "inverse_phi": "phi",
    "longest": "rowmax l2",
    "influence": "is_derive",
    "is_last": "last k",
    "last_share": "attn",
    "norm(frobenius)": "frob",
    "carries_uniform": "uniform",
    "carries_exponential": "exponential",
    "isometry": "isometry",
    "unit_isometry": "sphere",
    "length_spread": "length_spread",
    "repeat_share": "repeat_share",
    "repeat_reach": "repeat_reach",
    "row_entropy": "entropy",
    "logit_size": "vmat",
    "undirected": "nomask",
    "no_mask": "nomask",
    "orthogonal_rest": "orthogonal",
    "mask == none": "nomask key_padding",
    "mask == padding": "key_padding",
    "mask == causal": "causal",
    "query_bias == none": "bQ",
    "layernorm == sphere": "sphere normalised sphere_orbit sphere_map sphere_attention",
    "layernorm == column": "column_scaled",
    "skip == 0": "SA plain plain_orbit no_skip sphere_orbit skip sphere_map normalised",
    "skip == 1": "skipped",
    "bias == none": "bout onehead sphere_map normalised",
    "H == 1": "nheads onehead sphere_map",
}
#: What a theorem may not speak of if the formula says so.
FORBIDDEN = {
    "layernorm == none": "sphere normalised sphere_orbit sphere_map",
    "mask == any": "nomask key_padding",
}
#: What a theorem does not speak of: its row in theorems.toml says that it is not there.
LEFT_OUT = {"wu2024:2": ("diameter", "gram_height"), "own:order": ("diameter",)}
#: The words of a formula that are quantities without being called.
NAMES = ("W", "W_QK", "P", "d_qk", "x_star")


def coq() -> Path:
    return proofs_folder() / "coq"


@cache
def rows() -> tuple[Row, ...]:
    """The table of theorems."""
    return tuple(tomllib.loads((coq() / "theorems.toml").read_text(encoding="utf-8"))["theorem"])


@cache
def text_of(file: str) -> str:
    return (coq() / file).read_text(encoding="utf-8")


@cache
def statement(name: str) -> str:
    """A theorem's statement as it is in its file, after the variables, hypotheses and abbreviations around it.

    Examples
    --------
    >>> print(statement("Rankmath.own_tv.tv_tanh"))
    Variables (n : nat) (q g : vec) (D : R).
    Hypothesis q_pos : forall j, (j < n)%nat -> 0 <= q j.
    Hypothesis q_sum : sum n q = 1.
    Hypothesis osc : forall j k, (j < n)%nat -> (k < n)%nat -> 0 < q j -> 0 < q k -> g j - g k <= D.
    Theorem tv_tanh : tv n (tilt n q g) q <= tanh (D / 4).
    """
    _, module, theorem = name.split(".")
    text = text_of(f"{module}.v")
    found = re.search(
        rf"^(?:Theorem|Lemma|Corollary) {theorem}\b.*?\.(?=\s+Proof\b)", text, re.MULTILINE | re.DOTALL
    )
    if found is None:
        raise ValueError(f"theorems.toml: no theorem {theorem!r} in {module}.v")
    context: list[list[str]] = [[]]
    opening = r"^(Section \w+\.|End \w+\.|(?:Variables?|Hypothes[ie]s|Context|Let)\s.*?\.(?=\s*\n))"
    for line in re.findall(opening, text[: found.start()], re.MULTILINE | re.DOTALL):
        if line.startswith("Section"):
            context.append([])
        elif line.startswith("End"):
            context.pop()
        else:
            context[-1].append(line)
    kept = [found[0]]
    for line in reversed([line for section in context for line in section]):
        short = re.match(r"Let ([\w']+)", line)
        if short is None or any(re.search(rf"(?<![\w']){short[1]}(?![\w'])", text) for text in kept):
            kept.insert(0, line)
    return "\n".join(kept)


@cache
def definitions(file: str) -> dict[str, str]:
    """The definitions of a file by name."""
    pattern = r"^(?:Definition|Fixpoint|Let|Notation) (\w+)(.*?)\.(?=\s*\n)"
    return dict(re.findall(pattern, text_of(file), re.MULTILINE | re.DOTALL))


@cache
def imported(file: str) -> tuple[str, ...]:
    """The file and all it imports, but what the page of definitions prints in full."""
    found = dict.fromkeys([file])
    for line in re.findall(r"^From Rankmath Require (?:Import|Export) (.*?)\.$", text_of(file), re.MULTILINE):
        for module in line.split():
            if module not in ("Definitions", "Sums"):
                found |= dict.fromkeys(imported(f"{module}.v"))
    return tuple(found)


def meanings(name: str) -> list[str]:
    """The definitions that a theorem's statement rests on and that the page of definitions has not.

    Examples
    --------
    >>> [text.split()[1] for text in meanings("Rankmath.zhai2023.zhai_3_1")]
    ['decay', 'entropy_floor', 'entropy']
    """
    own = f"{name.split('.')[1]}.v"
    known: dict[str, str] = {}
    for file in reversed(imported(own)):
        for found in re.finditer(r"^(?:Definition|Fixpoint) (\w+)\b.*?\.(?=\s*\n)", text_of(file), re.M | re.S):
            if file == own or len(found[1]) > 1:  # a letter from elsewhere is a variable here
                known[found[1]] = found[0]
    needed: set[str] = set()
    ahead = [statement(name)]
    while ahead:
        more = set(re.findall(r"[A-Za-z_]\w*", ahead.pop())) & known.keys() - needed
        needed |= more
        ahead += [known[word] for word in more]
    return [text for word, text in known.items() if word in needed]


def words(name: str) -> set[str]:
    """The words of a theorem's statement and of the claims and definitions, in files of theorems, that it names."""
    own = f"{name.split('.')[1]}.v"
    files = dict.fromkeys([own, *(row["file"] for row in rows())])
    found: set[str] = set()
    ahead = set(re.findall(r"[A-Za-z_]\w*", statement(name)))
    while ahead:
        word = ahead.pop()
        found.add(word)
        meant = next((definitions(file)[word] for file in files if word in definitions(file)), "")
        if meant and (word in definitions(own) or word.endswith("_claim")):
            ahead |= set(re.findall(r"[A-Za-z_]\w*", meant)) - found
    return found


def quantities(entry: Statement) -> list[str]:
    """What the formula and its hypotheses speak of, as `DICTIONARY` names it."""
    found = []
    for text in (entry.expanded, *entry.given_texts):
        tree = ast.parse(str(text), mode="eval")
        if text != entry.expanded and (
            text in DICTIONARY or text in FORBIDDEN or re.fullmatch(r"\w+ == \w+", text)
        ):
            found.append(text)
            continue
        called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                kind = f"{node.func.id}({ast.unparse(node.args[-1])})" if node.args else f"{node.func.id}()"
                found.append(kind if kind in DICTIONARY else node.func.id)
            elif isinstance(node, ast.Name) and id(node) not in called and node.id in NAMES:
                found.append(node.id)
    return [term for term in dict.fromkeys(found) if term in DICTIONARY or term in FORBIDDEN]


def disagreements(key: str, entry: Statement) -> list[str]:
    """Quantities of the formula for which no theorem of the statement has a word, and words it may not have."""
    said = set().union(*(words(row["name"]) for row in rows() if row["key"] == key))
    absent = [term for term in quantities(entry) if term in DICTIONARY and not said & set(DICTIONARY[term].split())]
    barred = [term for term in quantities(entry) if term in FORBIDDEN and said & set(FORBIDDEN[term].split())]
    return [term for term in absent + barred if term not in LEFT_OUT.get(key, ())]


def page(known: dict[str, Statement]) -> str:
    """Every machine-checked statement: formula and hypotheses on the left, Coq on the right."""
    keys = dict.fromkeys(row["key"] for row in rows() if row["key"] in known)
    parts = [
        "# Formula and theorem, side by side",
        (
            f"{len(keys)} of the {len(known)} registered statements are machine-checked. On the left is the "
            "formula that `rankmath verify` runs, on the right the theorem that Coq has checked, with the "
            "variables and hypotheses of its section, below the definitions that it alone needs. What the other "
            "words mean is on [one page](../machine-checked.md); "
            "a test holds the quantities and hypotheses of the one against the words of the other."
        ),
    ]
    for key in keys:
        entry = known[key]
        left = [
            *(f"$$\n{part}\n$$" for part in (*entry.conclusion, *entry.letters)),
            "Given: " + "; ".join(entry.premises) if entry.premises else "Given: nothing more.",
        ]
        right = []
        for row in rows():
            if row["key"] == key:
                right += [
                    f"{row['proves'].capitalize()}: {row['scope']}.",
                    "```coq\n" + "\n".join([*meanings(row["name"]), statement(row["name"])]) + "\n```",
                ]
        cells = "\n".join(f"{mark} {_indented(cell)}" for mark, cell in (("* -", left), ("  -", right)))
        parts += [f"## [{key}]({slug(key)}.md)", f"````{{list-table}}\n:widths: 45 55\n\n{cells}\n````"]
    return "\n\n".join(parts) + "\n"


def _indented(blocks: list[str]) -> str:
    return "\n\n".join(blocks).replace("\n", "\n    ").replace("\n    \n", "\n\n")
