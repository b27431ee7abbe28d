"""What a certificate claims, beside its formulas: trusted, and no part of the kernel.

How data are named in the definitions, which words and terms a claim about a network may use, which hypotheses are
switches and what holds where nothing is said.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from rankmath.checker.intervals import Rejected, Undecided
from rankmath.checker.kernel import MAX_FORMULA, PRECISIONS, Evaluator, formula
from rankmath.checker.reading import demand, in_time, read, short
from rankmath.checker.statements import (
    CLAIM_ARRAYS,
    CLAIM_LOOPS,
    CLAIM_NUMBERS,
    CLAIM_PLACES,
    CLAIM_REACH,
    CLAIM_TAKES,
    CLAIM_TRUTHS,
    CLAIM_WORDS,
    NETWORK_HINTS,
    network_data,
)

SWITCHES = {
    "mask": ("none", "complete", "causal", "padding", "any"),
    "layernorm": ("none", "sphere", "column"),
    "mlp": ("none", "any"),
    "bias": ("none", "any"),
    "query_bias": ("none", "any"),
}
_ALIASES = {"tokens": "n", "dim": "d", "heads": "H", "layers": "L"}


def arranged(data: dict[str, Any], sizes: dict[str, int]) -> dict[str, Any]:
    """Data as the definitions name them: lengths as numbers, layers as arrays, what may be missing filled in."""
    result = {
        **data,
        **{letter: Fraction(size) for letter, size in sizes.items() if len(letter) == 1 and letter not in "Nk"},
    }
    if "layers" in data:
        result |= _layers(result.pop("layers"))
    if "m" in sizes and ("E" in data or "g" in data):
        demand(("weights" in data) != ("logits" in data), "data: either weights or logits are needed")
        result.setdefault("weights", [Fraction(1)] * sizes["m"])
        result.setdefault("logits", [Fraction(0)] * sizes["m"])
    if "attracting" in data:
        inner = result.pop("attracting")
        result |= {"R": inner["R"], "rho": inner["radius"], "rate": inner["rate"]}
    if "spectrum" in data:
        result |= result.pop("spectrum")
    if "unstable" in data:
        result |= result.pop("unstable")
    if "norm" in data:
        result["norm_kind"] = result.pop("norm")
    return result


def _layers(layers: list[Any]) -> dict[str, Any]:
    heads = {len(layer["heads"]) for layer in layers}
    demand(len(heads) == 1, "data.layers: every layer must have the same number of heads")
    names = layers[0]["heads"][0]
    arrays = {name: [[head[name] for head in layer["heads"]] for layer in layers] for name in names}
    maps = [layer.get("mlp", {}) for layer in layers]
    demand(all(f["skip"] in (0, 1) for f in maps if f), "data.layers.mlp.skip: 0 or 1 is needed")
    return {
        **arrays,
        **{name: [f.get(name, []) for f in maps] for name in ("W_in", "b_in", "W_out", "b_out")},
        "mlp": [f.get("activation", "none") for f in maps],
        "mlp_skip": [f.get("skip", Fraction(0)) for f in maps],
        "bias": [layer["bias"] for layer in layers],
        "L": Fraction(len(layers)),
        "H": Fraction(heads.pop()),
    }


# -- claims about networks -----------------------------------------------------------------------------------


def read_network(data: Any, hints: Any, deadline: float) -> tuple[dict[str, Any], dict[str, Any]]:
    """The data of a network as the definitions name them, and the hints: each is known, and of its shape."""
    sizes: dict[str, int] = {}
    names = hints if type(hints) is dict else {}
    known = all(re.fullmatch(r"X\[[0-9]{1,3}\] (inf|composite)", name) for name in names)
    demand(known, "hints: a name that is not known")
    shape = {"data": network_data(data), "hints": {f"{name}?": NETWORK_HINTS["*"] for name in names}}
    fields = read({"data": data, "hints": hints}, shape, "certificate", sizes, deadline)
    return network(fields["data"], sizes), network_hints(fields["hints"], len(fields["data"]["layers"]))


def network(data: dict[str, Any], sizes: dict[str, int]) -> dict[str, Any]:
    n, d = sizes["n"], sizes["d"]
    result = {**data, **_layers(data["layers"]), "n": Fraction(n), "d": Fraction(d), "input": data["X"]}
    del result["X"], result["layers"]
    demand(data["d_qk"] > 0, "data.d_qk: a positive number is needed")
    centers = len(data.get("centers", data["layers"]))
    demand(centers == len(data["layers"]), f"data.centers: {centers} given, one for each layer is needed")
    edges = data["mask"] if type(data["mask"]) is list else [[Fraction(1)] * n for _ in range(n)]
    demand(all(x in (0, 1) for row in edges for x in row), "data.mask: every entry must be 0 or 1")
    demand(all(any(row) for row in edges), "data.mask: every token must see one")
    result["edges"] = edges
    full, causal = (
        all(all(row) for row in edges),
        all(x == (j <= i) for i, row in enumerate(edges) for j, x in enumerate(row)),
    )
    result["mask"] = "complete" if full else "causal" if causal else "other"
    return {**result, **{alias: result[letter] for alias, letter in _ALIASES.items()}}


def network_hints(hints: Mapping[str, Any], layers: int) -> dict[str, Any]:
    """For each norm and layer what the certificate suggests: a center or none, and lines of weights."""

    def of(hint: Mapping[str, Any]) -> list[Any]:
        return [hint.get("center", []), [[line["columns"], line["rows"]] for line in hint.get("lines", [])]]

    names = ("inf", "composite")
    return {f"hints_{norm}": [of(hints.get(f"X[{l}] {norm}", {})) for l in range(layers + 1)] for norm in names}


def hypotheses(claim: str, given: list[str], data: Mapping[str, Any]) -> list[str]:
    """The hypotheses that are formulas; switches are looked up, and those not mentioned stand at their default."""
    conditions = []
    for text in given:
        if is_switch(text):
            name, word = (part.strip() for part in text.split("=="))
            demand(word in SWITCHES[name], f"given: {name} is none of {', '.join(SWITCHES[name])}")
            demand(_switched(name, word, data), f"a hypothesis fails: {text}")
        else:
            conditions.append(text)
    for text in unsaid(claim, given):
        name = text.split()[0]
        met = data["skip"] == 0 if name == "skip" else _switched(name, "none", data)
        demand(met, f"data: the hypotheses allow no {name}; {text} where nothing is said")
    return conditions


def unsaid(claim: str, given: list[str]) -> list[str]:
    """What holds where nothing is said: no mask, no LayerNorm, no MLP; no skip, if no formula speaks of it."""
    said = {text.split("==")[0].strip() for text in given if is_switch(text)}
    named = any(re.search(r"\bskip\b", text) for text in (claim, *given))
    unsaid = [f"{name} == none" for name in ("mask", "layernorm", "mlp") if name not in said]
    return unsaid if named else [*unsaid, "skip == 0"]


def is_switch(text: str) -> bool:
    found = re.fullmatch(r"\s*(\w+)\s*==\s*(\w+)\s*", text)
    return found is not None and found[1] in SWITCHES


def _switched(name: str, word: str, data: Mapping[str, Any]) -> bool:
    if word == "any":
        return True
    if name == "mlp":
        return all(map(word.__eq__, data["mlp"]))
    if name in ("bias", "query_bias"):
        flat = data["bias"] if name == "bias" else [row for layer in data["key_bias"] for row in layer]
        return not any(x for row in flat for x in row)
    if name == "layernorm":
        return bool(data["layernorm"] == word)
    edges = data["edges"]
    if word == "padding":
        return all(row == edges[0] for row in edges)
    return bool(data["mask"] == ("complete" if word == "none" else word))


def in_fractions(text: str) -> str:
    """A formula with its decimals written as fractions."""
    demand(len(text) <= MAX_FORMULA, f"a formula beyond {MAX_FORMULA} characters")
    return re.sub(
        r"\b[0-9]+\.[0-9]+\b", lambda found: "({}/{})".format(*Fraction(found[0]).as_integer_ratio()), text
    )


class _Speller(ast.NodeTransformer):
    """Claims in the language of the kernel: places for arrays, loops and recursions as loops with names."""

    def __init__(self, layers: int) -> None:
        self.layers = layers

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        place = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice
        last = self.layers - (name_of(node.value) != "X")
        named = name_of(node.value) in CLAIM_ARRAYS
        if named and isinstance(place, ast.Constant) and int(str(place.value)) > last:
            raise Rejected(f"{_text(node)}: there are {self.layers} layer(s)")
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name, arguments = name_of(node.func), node.args
        if name in CLAIM_PLACES and isinstance(arguments[0], ast.Subscript):
            fits = name_of(arguments[0].value) == CLAIM_TAKES[name][0]
            demand(fits, f"{name} of another array than {CLAIM_TAKES[name][0]} has no place")
            place = arguments[0].slice
            node.args = [*(place.elts if isinstance(place, ast.Tuple) else [place]), *arguments[1:]]
        if name in CLAIM_LOOPS:
            verb, letter = CLAIM_LOOPS[name]
            return _loop(verb, arguments[0], (letter, formula(CLAIM_REACH[letter])))
        if name == "recursion":  # recursion(b, start, step): b = start, then b = step for l = 0, .., L - 1
            b = name_of(arguments[0])
            steps = [(("l", _only(ast.Constant(l))), (b, _only(arguments[2]))) for l in range(self.layers)]
            return _loop("max", arguments[0], (b, _only(arguments[1])), *(one for two in steps for one in two))
        return node


def name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _only(node: ast.expr) -> ast.List:
    return ast.List([node])


def _loop(verb: str, term: ast.expr, *reach: tuple[str, ast.expr]) -> ast.expr:
    """verb(term for letter in reach for ..)."""
    generators = [ast.comprehension(ast.Name(letter), members, [], 0) for letter, members in reach]
    return ast.Call(ast.Name(verb), [ast.GeneratorExp(term, generators)], [])


def spelled(text: str | ast.expr, layers: int) -> ast.expr:
    """A formula of the language of claims, for the kernel; relations stay where they stand in the text."""
    tree: ast.expr = _Speller(layers).visit(formula(text) if isinstance(text, str) else text)
    return tree


def sides(node: ast.expr) -> list[ast.expr]:
    """The sides of all relations of a claim; of those in loops the sums."""
    if isinstance(node, ast.BoolOp):
        return [side for part in node.values for side in sides(part)]
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.Call) and name_of(node.func) in CLAIM_LOOPS:
        letter = CLAIM_LOOPS[name_of(node.func)][1]
        return [_loop("sum", side, (letter, formula(CLAIM_REACH[letter]))) for side in sides(node.args[0])]
    return []


def demand_meaning(claim: str, work: Evaluator) -> None:
    """Of a claim that fails at one relation all others must have a meaning, too: both sides of each are numbers.

    Of a number that no precision shows to be one (1/x where x may be 0) this is not known.
    """

    def is_number(side: ast.expr, bits: int) -> bool:
        try:
            return work.at(bits).value(side, {}) is not None
        except Undecided:
            return False

    for side in sides(formula(claim)):
        text, tree = _text(side), spelled(side, int(work.data["L"]))
        shown = any(is_number(tree, bits) for bits in PRECISIONS)
        demand(shown, f"claim: {text} is a part of it that may have no meaning")


def names_centers(text: str) -> bool:
    """Whether a formula speaks of what stands about composite centers."""
    calls = [node for node in ast.walk(formula(text)) if isinstance(node, ast.Call)]
    named = [(name_of(call.func), [name_of(argument) for argument in call.args]) for call in calls]
    return any(f == "gamma" or (f in ("delta", "q_max", "q_min") and "composite" in words) for f, words in named)


def demand_language(claim: str, given: Sequence[str], deadline: float = math.inf) -> None:
    """Formulas of the language of claims: relations of numbers joined by `and`; arrays and words are arguments."""
    for text in (claim, *(text for text in given if not is_switch(text))):
        in_time(deadline)
        demand(_kind(formula(text), set()) == "?", f"no relation, but a number: {short(text)}")


def _kind(node: ast.expr, letters: set[str]) -> str:
    """Whether a term is a number ("x") or true or false ("?"); `letters` are those of its loops and recursions."""
    if isinstance(node, ast.Constant) or (
        isinstance(node, ast.Name) and node.id in CLAIM_NUMBERS | (letters - {"p"})  # p is 1, 2 or the word inf
    ):
        return "x"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        return _kind_of_call(node.func.id, node.args, letters)
    parts: list[ast.expr] = []
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
        parts = [node.left, node.right]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        parts = [node.operand]
    elif isinstance(node, ast.Compare):
        parts = [node.left, *node.comparators]
    joins = isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And)
    for part in node.values if isinstance(node, ast.BoolOp) and joins else parts:
        if _kind(part, letters) != "?x"[not joins]:  # (no text is made before: it would take long)
            raise Rejected(f"{_text(part)} is no {'relation' if joins else 'number'}")
    if not joins and not parts:
        raise Rejected(f"{_text(node)} has no place in the language of claims")
    return "?" if joins or isinstance(node, ast.Compare) else "x"


def _kind_of_call(name: str, arguments: list[ast.expr], letters: set[str]) -> str:
    kinds, verb, loop = CLAIM_TAKES.get(name), *CLAIM_LOOPS.get(name, ("", ""))
    if name == "recursion":  # a letter, where it starts, and its next value, which may speak of the letter and of l
        free = len(arguments) == 3 and isinstance(arguments[0], ast.Name) and arguments[0].id in set("abcstuvxyz")
        demand(free, "recursion(b, start, step) is needed")
        demand("recursion" not in letters, "a recursion in the step of a recursion")
        steps = zip(arguments[1:], (letters, {*letters, _text(arguments[0]), "l", "recursion"}), strict=True)
        demand(all(_kind(term, known) == "x" for term, known in steps), "recursion(b, start, step) is needed")
        return "x"
    if verb:
        wanted = "?" if verb == "all" else "x"
        demand(len(arguments) == 1 and _kind(arguments[0], {*letters, loop}) == wanted, f"{name} takes one term")
        return wanted
    if name in ("min", "max"):
        demand(bool(arguments), f"{name} takes one number or more")
        kinds = "x" * len(arguments)
    demand(kinds is not None, f"{short(name)} is not in the language of claims")
    demand(len(arguments) == len(kinds or ""), f"{name} takes {len(kinds or '')} arguments, {len(arguments)} given")
    for kind, argument in zip(kinds or "", arguments, strict=True):
        if not _is(kind, argument, letters):
            raise Rejected(f"{name} does not take {_text(argument)}")
    return "?" if name in CLAIM_TRUTHS else "x"


def _is(kind: str, node: ast.expr, letters: set[str]) -> bool:
    """Whether an argument is a number, a word, or an array X[l], P[l, h], W[l, h], W_QK[l, h] of this kind."""
    if kind == "x":
        return _kind(node, letters) == "x"
    if kind == "w":
        named = isinstance(node, ast.Name) and node.id in CLAIM_WORDS | (letters & {"p"})
        return named or isinstance(node, ast.Constant)
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
        return False
    found, count = CLAIM_ARRAYS.get(node.value.id, ("", 0))
    places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    fits = len(places) == count and (kind == "A" or kind == found)
    return fits and all(_kind(place, letters) == "x" for place in places)


def _text(node: ast.expr) -> str:
    return ast.unparse(node)[:60]
