"""What a network may be said to be: switches, their words, and how a hypothesis is printed."""

from __future__ import annotations

_ANY = {"any": ""}
#: For each switch the words it is compared with, and what a reader is told; nothing where that says nothing.
SWITCHES: dict[str, dict[str, str]] = {
    "mask": {
        "none": "no mask",
        "causal": "the causal mask",
        "complete": "the complete mask",
        "any": "any mask",
        "padding": "no mask, or all tokens see the same ones (key padding)",
    },
    "layernorm": {
        "none": "no LayerNorm",
        "sphere": "sphere LayerNorm (every token is divided by its norm, the input's too)",
        "column": "column LayerNorm",
        "standard": "standard LayerNorm",
        "rms": "RMSNorm",
        "any": "any LayerNorm",
    },
    "norm_at": {"after": "", "before": "LayerNorm before every map", "any": "LayerNorms anywhere"},
    "mlp": {"none": "no MLP", "any": "per-token MLPs or none"},  # and every activation of `layer`
    "bias": {"none": "no bias of values or outputs (Σ_h b_V W_O + b_O = 0)", **_ANY},
    "query_bias": {"none": "no query biases (b_Q = 0)", **_ANY},
    "positions": {
        "none": "no positions",
        "rotary": "rotary positions (pairs of entries of queries and keys are turned as tables of cos and sin of their "
        "place say)",
        "alibi": "ALiBi positions (logits less m|i − j|, with a number m ≥ 0 for every head)",
        "relative": "relative positions (a term of the logits that depends on i − j alone)",
        "any": "any positions",
    },
    "softcap": {"none": "logits that are not capped", "any": "logits capped or not"},
    "qk_norm": {"none": "no norms of queries and keys", "any": "norms of queries and keys or none"},
}
#: Masks by name, some with a number k: where token i sees token j, in the definitions' language, and in words.
MASKS: dict[str, tuple[str, str]] = {
    "causal": ("j <= i", "j ≤ i"),
    "window": ("abs(i - j) <= k", "|i − j| ≤ {k}"),
    "causal_window": ("j <= i and i < j + k", "i − {k} < j ≤ i"),
    "prefix": ("j <= i or j < k and i < k", "j ≤ i, or both i and j are below {k}"),
    "star": ("i == j or i == k or j == k", "i = j, or one of them is {k}"),
}
#: What holds of a network where a claim says nothing: attention alone, with biases. The others are not printed.
DEFAULTS = {"mask": "mask == none", "layernorm": "layernorm == none", "mlp": "mlp == none", "skip": "skip == 0"}
UNPRINTED = {
    "norm_at": "norm_at == after",
    "positions": "positions == none",
    "softcap": "softcap == none",
    "qk_norm": "qk_norm == none",
}


def mask_of(word: str) -> tuple[str, int] | None:
    """The name and the number of a mask that takes one, such as window(2).

    >>> mask_of("window(2)"), mask_of("causal"), mask_of("window(x)")
    (('window', 2), None, None)
    """
    name, _, rest = word.partition("(")
    number = rest.removesuffix(")")
    fits = rest.endswith(")") and number.isascii() and number.isdigit() and len(number) <= 9
    return (name, int(number)) if fits and "k" in MASKS.get(name, ("",))[0] else None


#: Other names of sizes and of switches.
ALIASES = {"tokens": "n", "dim": "d", "heads": "H", "layers": "L"}
OTHER_NAMES = {"position": "positions", "norm": "layernorm"}


def allowed(switch: str, word: str) -> bool:
    """Whether a switch may be compared with this word."""
    return word in SWITCHES[switch] or (switch == "mask" and mask_of(word) is not None)


def said(switch: str, word: str) -> str:
    """A switch in words; empty where it says nothing.

    >>> said("mask", "window(2)"), said("mlp", "none"), said("bias", "any")
    ('the mask under which token i sees token j where |i − j| ≤ 2', 'no MLP', '')
    """
    found = mask_of(word)
    if switch == "mask" and found is not None:
        return f"the mask under which token i sees token j where {MASKS[found[0]][1].format(k=found[1])}"
    return SWITCHES[switch][word]
