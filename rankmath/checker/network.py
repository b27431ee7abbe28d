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
from rankmath.checker.kernel import MAX_FORMULA, PRECISIONS, WORDS, Evaluator, formula
from rankmath.checker.reading import demand, demand_numbers, in_time, read, short
from rankmath.checker.statements import (
    CLAIM_ARRAYS,
    CLAIM_FUNCTIONS,
    CLAIM_LOOPS,
    CLAIM_NUMBERS,
    CLAIM_REACH,
    NETWORK_HINTS,
    defined_network,
    network_data,
)
from rankmath.definitions.entries import ENTRIES, Parameter
from rankmath.definitions.hypotheses import ALIASES, DEFAULTS, MASKS, SWITCHES, UNPRINTED, allowed, mask_of
from rankmath.definitions.layer import ACTIVATIONS, CAPS, LAYERNORMS


def arranged(data: dict[str, Any], sizes: dict[str, int]) -> dict[str, Any]:
    """Data as the definitions name them: lengths as numbers, layers as arrays, what may be missing filled in."""
    result = {
        **data,
        **{letter: Fraction(size) for letter, size in sizes.items() if len(letter) == 1 and letter not in "Nk"},
    }
    if "layers" in data:
        result |= _heads(result.pop("layers"))
    if "m" in sizes and ("E" in data or "g" in data):
        demand(("weights" in data) != ("logits" in data), "data: either weights or logits are needed")
        result.setdefault("weights", [Fraction(1)] * sizes["m"])
        result.setdefault("logits", [Fraction(0)] * sizes["m"])
    if "attracting" in data:
        inner = result.pop("attracting")
        result |= {"R": inner["R"], "rho": inner["radius"], "rate": inner["rate"]}
    for name in ("spectrum", "unstable"):
        result |= result.pop(name, {})
    if "norm" in data:
        result["norm_kind"] = result.pop("norm")
    return result


def _heads(layers: list[Any]) -> dict[str, Any]:
    """Layers of heads, as arrays of each field."""
    heads = {len(layer["heads"]) for layer in layers}
    demand(len(heads) == 1, "data.layers: every layer must have the same number of heads")
    names = layers[0]["heads"][0]
    return {
        **{name: [[head[name] for head in layer["heads"]] for layer in layers] for name in names},
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
    """The names that `rankmath.definitions.layer` reads, and those of claims: what differs from layer to layer has
    none."""
    n, d = sizes["n"], sizes["d"]
    raw = _sublayers(data) if "layernorm" in data else data["layers"]
    blocks = [[_sublayer(part, n, d) for part in layer] for layer in raw]
    attends, feeds = ([_only_one(layer, kind) for layer in blocks] for kind in ("attending", "tokenwise"))
    demand(any(attends), "data.layers: no layer attends")
    parts = [layer[int(at[0])] for layer, at in zip(blocks, attends, strict=True) if at]
    attentions = [layer[int(at[0])]["maps"][int(at[1])] for layer, at in zip(blocks, attends, strict=True) if at]
    maps = [layer[int(at[0])]["maps"][int(at[1])] if at else None for layer, at in zip(blocks, feeds, strict=True)]
    for a in attentions:
        demand(a["d_qk"] > 0, "data.d_qk: a positive number is needed")
    heads = {len(a["query"]) for a in attentions}
    demand(len(heads) == 1, "data.layers: every layer must have the same number of heads")
    centers = len(data.get("centers", blocks))
    demand(centers == len(blocks), f"data.centers: {centers} given, one for each layer is needed")
    norms = [[part[side] for side in ("before", "behind", "after")] for layer in blocks for part in layer]
    kinds = {norm["kind"] for sides in norms for norm in sides if norm != "none"}
    last = all(part["after"] == "none" or part is layer[-1] for layer in blocks for part in layer)
    before, behind, after = (any(sides[k] != "none" for sides in norms) for k in range(3))
    ended = all((layer[-1]["after"] != "none") == after for layer in blocks)
    every = all(sides[0] != "none" for sides in norms)
    placed = "after" if last and ended and not before else "before" if every and not after else "mixed"
    result: dict[str, Any] = {"blocks": blocks, "input": data["X"], "n": Fraction(n), "d": Fraction(d)}
    result |= {"L": Fraction(len(blocks)), "H": Fraction(heads.pop()), "attends": attends, "feeds": feeds}
    result |= {"centers": data["centers"]} if "centers" in data else {}
    result["mlp"] = ["none" if f is None else f["activation"] for f in maps]
    result["layernorm"] = "none" if not kinds else kinds.pop() if len(kinds) == 1 else "mixed"
    result["norm_at"] = "mixed" if behind else placed
    same = {"skip": [part["skip"] for part in parts], "d_qk": [a["d_qk"] for a in attentions]}
    same["edges"] = [a["mask"] for a in attentions]
    result |= {name: values[0] for name, values in same.items() if all(v == values[0] for v in values)}
    if "edges" in result:
        edges = result["edges"]
        full = all(all(row) for row in edges)
        causal = all(x == (j <= i) for i, row in enumerate(edges) for j, x in enumerate(row))
        result["mask"] = "complete" if full else "causal" if causal else "other"
    caps = {"none" if a["softcap"] == "none" else a["cap"] for a in attentions}
    result["softcap"] = caps.pop() if len(caps) == 1 else "some"
    result["qk_norm"] = "none" if all(a["qk_norm"] == "none" for a in attentions) else "some"
    result["positions"] = frozenset.intersection(*map(_positions, attentions))
    result["kv_heads"] = Fraction(max(len(a["value"]) for a in attentions))
    result["biases"] = [a["bias"] for a in attentions]
    sides = [a[name] for a in attentions for name in ("key_bias", "b_Q") if a[name] != "none"]
    result["key_biases"] = [row for rows in sides for row in rows]
    words = {*ACTIVATIONS, *CAPS, *LAYERNORMS} - {*WORDS, *defined_network()}
    return {**{word: word for word in words}, **result, **{alias: result[of] for alias, of in ALIASES.items()}}


def _positions(a: dict[str, Any]) -> frozenset[str]:
    """The words that hold of the positions of an attention."""
    if a["position"] == "none" or a["rotary"] != "none":
        kind = "rotary" if a["rotary"] != "none" and a["position"] == "none" else "mixed"
        return frozenset([kind if a["rotary"] != "none" else "none"])
    offsets = [{j - i: x for i, row in enumerate(B) for j, x in enumerate(row)} for B in a["position"]]
    relative = all(
        x == of[j - i]
        for B, of in zip(a["position"], offsets, strict=True)
        for i, r in enumerate(B)
        for j, x in enumerate(r)
    )
    straight = all(x == of.get(1, 0) * abs(k) and x <= 0 for of in offsets for k, x in of.items())
    return frozenset(["relative", "alibi"] if relative and straight else ["relative"] if relative else ["mixed"])


def _sublayers(data: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """The one-line form as sublayers."""
    norm = {} if data["layernorm"] == "none" else {"after": {"kind": data["layernorm"], "eps": Fraction(0)}}
    mask = {"mask": data["mask"]} if type(data["mask"]) is list else {}
    result = []
    for layer in data["layers"]:
        fields = {"query": "W_QK", "value": "W", "key_bias": "key_bias"}
        heads = {name: [head[known] for head in layer["heads"]] for name, known in fields.items()}
        attention = {**heads, **mask, "bias": layer["bias"], "d_qk": data["d_qk"]}
        parts = [{"maps": [{"attention": attention}], "skip": data["skip"]}]
        if "mlp" in layer:
            parts.append({"maps": [{"mlp": layer["mlp"]}], "skip": Fraction(0)})
        parts[-1] |= norm
        result.append(parts)
    return result


def _sublayer(part: dict[str, Any], n: int, d: int) -> dict[str, Any]:
    """A sublayer with all its fields; what is missing is the word none, or what does nothing in its place."""
    sides = ("before", "behind", "after")
    filled = {**dict.fromkeys(sides, "none"), **part}
    for side in sides:
        if filled[side] != "none":
            kind, eps = filled[side]["kind"], filled[side]["eps"]
            scaled, floored = (kind != "column" and field in LAYERNORMS[kind] for field in ("N.gain", "N.eps"))
            demand(eps >= 0 and (eps == 0 or kind == "column" or floored), f"data.layers.{side}.eps: it has none")
            demand(scaled or not {"gain", "offset"} & {*filled[side]}, f"data.layers.{side}: it has no gain")
            ones, zeros = [Fraction(1)] * d, [Fraction(0)] * d
            filled[side] = {"gain": ones, "offset": zeros, **filled[side]}
    maps = [_map(f, n, d) for f in part.get("maps", [])]
    demand(bool(maps) or part["skip"] == 1, "data.layers.skip: without a map it must be 1")
    return {**filled, "maps": maps}


def _map(f: dict[str, Any], n: int, d: int) -> dict[str, Any]:
    demand(len(f) == 1, "data.layers.maps: each is an attention or an mlp")
    if "mlp" in f:
        demand(f["mlp"]["skip"] in (0, 1), "data.layers.mlp.skip: 0 or 1 is needed")
        gate = {"W_gate": "none", "b_gate": [Fraction(0)] * len(f["mlp"]["b_in"])}
        return {"kind": "tokenwise", **gate, **f["mlp"]}
    a = f["attention"]
    names = ("key", "output", "key_bias", "position", "rotary", "qk_norm", "softcap", "b_Q", "b_K")
    absent = {"cap": "tanh", **dict.fromkeys(names, "none")}
    found = {"kind": "attending", **absent, "bias": [Fraction(0)] * d, "mask": [[Fraction(1)] * n] * n, **a}
    H, groups = len(a["query"]), len(a["value"])
    counts = {"key": groups, "output": H, "key_bias": H, "position": H, "b_Q": H, "b_K": groups}
    for name, count in counts.items():
        demand(name not in a or len(a[name]) == count, f"data.layers.attention.{name}: {count} are needed")
    demand(H % groups == 0, "data.layers.attention.value: heads share values in groups of one size")
    fused = {"query", "value"} - {name for name, factor in (("query", "key"), ("value", "output")) if factor in a}
    square = all(len(M[0]) == d for name in fused for M in a[name])
    demand(square, "data.layers.attention: a query or value without its other factor must be square")
    demand(groups == H or "key" in a, "data.layers.attention.key: grouped heads need it")
    demand("key" in a or not {"qk_norm", "b_K"} & {*a}, "data.layers.attention.key: what acts on keys needs it")
    demand(found["softcap"] == "none" or found["softcap"] > 0, "data.layers.attention.softcap: positive is needed")
    demand(all(x in (0, 1) for row in found["mask"] for x in row), "data.mask: every entry must be 0 or 1")
    demand(all(any(row) for row in found["mask"]), "data.mask: every token must see one")
    return found


def _only_one(layer: list[dict[str, Any]], kind: str) -> list[Fraction | int]:
    """The place of the one map of this kind in a layer, [] where it has none."""
    found = [[s, m] for s, part in enumerate(layer) for m, f in enumerate(part["maps"]) if f["kind"] == kind]
    demand(kind == "tokenwise" or len(found) <= 1, "data.layers: a layer attends twice")
    return [*map(Fraction, found[-1])] if found else []


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
            word = word.replace(" ", "")
            demand(allowed(name, word), f"given: {name} is none of {', '.join(SWITCHES[name])}")
            demand(_switched(name, word, data), f"a hypothesis fails: {text}")
        else:
            conditions.append(text)
    for text in all_meant(claim, given):
        name, word = text.split(" == ")
        met = data.get("skip") == 0 if name == "skip" else _switched(name, word, data)
        demand(met, f"data: the hypotheses allow no other {name}; {text} where nothing is said")
    return conditions


def unsaid(claim: str, given: list[str]) -> list[str]:
    """What holds where nothing is said: no mask, no LayerNorm, no MLP; no skip, if no formula speaks of it."""
    said = {text.split("==")[0].strip() for text in given if is_switch(text)}
    named = any(re.search(r"\bskip\b", text) for text in (claim, *given))
    said |= {"skip"} if named else set()
    return [text for name, text in DEFAULTS.items() if name not in said]


def all_meant(claim: str, given: list[str]) -> list[str]:
    """All that holds where nothing is said: positions, caps and norms of queries and keys among it.

    >>> all_meant("mu(X[1]) <= 1", ["mask == any", "layernorm == any", "mlp == any", "norm_at == any"])
    ['skip == 0', 'positions == none', 'softcap == none', 'qk_norm == none']
    """
    said = {text.split("==")[0].strip() for text in given if is_switch(text)}
    return [*unsaid(claim, given), *(text for name, text in UNPRINTED.items() if name not in said)]


def is_switch(text: str) -> bool:
    found = re.fullmatch(r"\s*(\w+)\s*==\s*\w+\s*(\(\s*[0-9]+\s*\)\s*)?", text)
    return found is not None and found[1] in SWITCHES


def _switched(name: str, word: str, data: Mapping[str, Any]) -> bool:
    if word == "any":
        return True
    if name == "mlp":
        return all(map(word.__eq__, data["mlp"]))
    if name in ("bias", "query_bias"):
        return not any(x for row in data["biases" if name == "bias" else "key_biases"] for x in row)
    if name == "positions":
        return word in data[name]
    if name in ("layernorm", *UNPRINTED):
        return bool(data[name] == word)
    demand("edges" in data, "data.layers: masks that differ from layer to layer have no name")
    edges, named = data["edges"], mask_of(word)
    if named is not None:
        seen = f"all(edges[i][j] == (1 if {MASKS[named[0]][0]} else 0) for i in range(n) for j in range(n))"
        work = Evaluator({}, {"edges": edges, "n": data["n"], "k": Fraction(named[1])}, {}, PRECISIONS[0], math.inf)
        return work.truth(formula(seen)) is True
    if word == "padding":
        return all(row == edges[0] for row in edges)
    alone = word == "causal" and data["n"] == 1  # of one token every mask is causal
    return alone or bool(data["mask"] == ("complete" if word == "none" else word))


def in_fractions(text: str) -> str:
    """A formula with its decimals written as fractions."""
    demand(len(text) <= MAX_FORMULA, f"a formula beyond {MAX_FORMULA} characters")
    demand_numbers(text)
    return re.sub(r"\b[0-9]+\.[0-9]+\b", lambda found: "({}/{})".format(*Fraction(found[0]).as_integer_ratio()), text)


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
        placed = name in ENTRIES and any(parameter.by_place for parameter in ENTRIES[name].parameters)
        if placed and isinstance(arguments[0], ast.Subscript):
            wanted = ENTRIES[name].parameters[0].name
            demand(name_of(arguments[0].value) == wanted, f"{name} of another array than {wanted} has no place")
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
    (verb, loop), entry = CLAIM_LOOPS.get(name, ("", "")), ENTRIES.get(name)
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
    number = Parameter("x", "number")
    plain = (number,) * (len(arguments) if name in ("min", "max") else 1)
    demand(entry is not None or name in CLAIM_FUNCTIONS | {"min", "max"}, f"{short(name)} is not in the language")
    taken = entry.parameters if entry is not None else plain
    demand(len(arguments) == len(taken), f"{name} takes {len(taken)} arguments, {len(arguments)} given")
    for parameter, argument in zip(taken, arguments, strict=True):
        if not _is(parameter, argument, letters):
            raise Rejected(f"{name} does not take {_text(argument)}")
    return "?" if entry is not None and entry.truth else "x"


def _is(parameter: Parameter, node: ast.expr, letters: set[str]) -> bool:
    """Whether an argument is a number, a word, or an array X[l], P[l, h], W[l, h], W_QK[l, h] of this kind."""
    if parameter.kind in ("number", "layer"):
        return _kind(node, letters) == "x"
    if parameter.kind == "word":
        named = isinstance(node, ast.Name) and node.id in {*parameter.words} | (letters & {"p"})
        return named or isinstance(node, ast.Constant)
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
        return False
    found, count = CLAIM_ARRAYS.get(node.value.id, ("", 0))
    places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    fits = len(places) == count and (parameter.kind == "matrix" or parameter.kind == found)
    return fits and all(_kind(place, letters) == "x" for place in places)


def _text(node: ast.expr) -> str:
    return ast.unparse(node)[:60]
