"""Formulas of the language of claims about networks as Coq terms: the words of proofs/coq/Network.v.

``python -m rankmath.certificates.coq_words`` prints proofs/coq/Lemmas.v: every lemma of the prover, from its
text, as a theorem about any network, proved by the theorem that rankmath/checker/lemmas.toml names.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rankmath.checker.derivation import meant
from rankmath.checker.lemmas import lemma_table, usable_statements
from rankmath.checker.network_claims import NETWORK_CLAIMS
from rankmath.definitions.hypotheses import ALIASES, UNPRINTED
from rankmath.files import proofs_folder
from rankmath.validation import InvalidArgument

#: Letters as real numbers; r is a number that a hypothesis defines.
_LETTERS = {
    "n": "INR (tokens N)",
    "d": "INR (dim N)",
    "H": "INR (heads N)",
    "L": "INR (layers N)",
    "r": "INR r",
    "d_qk": "d_qk N",
    "skip": "skip_of N",
    "in_degree": "in_degree N",
    "x_star": "x_star",
}
_NATURAL = {"n": "tokens N", "d": "dim N", "H": "heads N", "L": "layers N", "r": "r"}
_PLAIN = {"sqrt": "sqrt", "exp": "exp", "log": "ln", "tanh": "tanh", "abs": "Rabs", "expc": "expc", "tanhc": "tanhc"}
#: What an index runs to, and each fold over one: the last index of maxi and minf is included.
_ENDS = {"l": "(layers N)", "h": "(heads N)", "k": "(blocks r (layers N))", "i": "(tokens N)"}
_FOLDS = {"sum": "sum {end}", "prod": "prodf {end}", "max": "maxi ({end} - 1)", "min": "minf ({end} - 1)"}
#: Words of an array, with an exponent or a name, and words of a place.
_OF_TOKENS = [
    "mu",
    "longest",
    "reach",
    "stable_rank",
    "cosine",
    "centred_norm",
    "about_mean",
    "first_gap",
    "participation_ratio",
]
_OF_ATTENTION = ["dobrushin", "entropy", "top_shares", "second_modulus", "other_share"]
_OF_ARRAY = frozenset([*_OF_TOKENS, *_OF_ATTENTION, "least_singular", "definiteness", "rank"])
_OF_ARRAY |= {"gram_height"}
_WITH_EXPONENT = frozenset(["diameter", "operator_norm", "form_norm"])
_WITH_NAME = frozenset(["norm", "residual", "effective_rank"])
_OF_PLACE = frozenset(["epsilon", "logit_range"])
_ABOUT = frozenset(["delta", "q_max", "q_min"])
#: Words of Bridge.v, of a whole network, a layer, the number of a token, and the tokens of a layer. They are those of
#: networks of attention alone, the first with the bilinear form's logits, the others with any.
_PLAIN_WORDS = {"jacobian_norm", "influence", "last_share", "is_last", "repeat_gap", "mu_before", "height", "section"}
_PLAIN_WORDS |= {"repeat_share", "repeat_reach"}
_PLAIN_WORDS |= {"orthogonal_values", "disjoint_blocks"}
_ALONE_WORDS = {"consensus_shift", "linear_gap", "second_least", "second_norm", "moved"}
_BRIDGED = {*_PLAIN_WORDS, *_ALONE_WORDS, "gram_height", "definite"}
_BRIDGED |= {"strongly_connected"}
_SIGNS = {ast.LtE: "<=", ast.Lt: "<", ast.Eq: "=", ast.GtE: ">=", ast.Gt: ">"}
_OPERATIONS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_SWITCHES = frozenset(["mask", "layernorm", "mlp", "bias", "query_bias", *UNPRINTED])
#: Words of a switch that Network.v has; what is said of another word is proved for any of its kind.
_SAID = {
    "mask": {"none", "causal", "complete", "padding"},
    "layernorm": {"none", "sphere", "column"},
    "mlp": {"none"},
    "bias": {"none"},
    "query_bias": {"none"},
}


_DEFAULT_WORDS = {name: text.split(" == ")[1] for name, text in UNPRINTED.items()}
#: Statements that derivations cannot cite in Coq, and why.
_SUM = "its form norm for p = inf is a sum from d = 13 on"
_PARTS = "the networks of Coq's derivations have not the parts that it speaks of"
NOT_IN_COQ = {
    "dong2021:3.2": "it speaks of maps of tokens",
    "dong2021:3.3": _SUM,
    "own:diameter": _SUM,
    "own:diameter-cubic": _SUM,
    "own:causal-rate": "what tokens attend to themselves is another word there",
    "own:consensus-second": "what tokens attend to themselves is another word there",
    "own:consensus-spectrum": "the second modulus is another limit there",
    "own:positions-diameter": _PARTS,
    "own:pre-norm-depth": _PARTS,
    "own:pre-norm-diameter": _PARTS,
    "own:pre-norm-power": _PARTS,
    "own:relative-shares": _PARTS,
    "own:shrinking-values": _PARTS,
    "wu2024:cor1-centers": _PARTS,
    "wu2024:pre-ln": _PARTS,
}


#: A lemma: its name, claim and hypotheses, and the file and the name of its theorem.
Row = dict[str, Any]


class NoCoq(InvalidArgument):
    """A word that Network.v does not define."""


@dataclass(frozen=True)
class Printer:
    """Terms and formulas as Coq; `functions` are letters that depend on the index they stand under."""

    functions: frozenset[str] = frozenset()
    bound: tuple[str, ...] = ()

    def term(self, node: ast.expr) -> str:
        """A real number, in parentheses unless it is a name or a number."""
        match node:
            case ast.Constant(value=int(value)):
                return str(value)
            case ast.Constant(value=float(value)):
                return self._fraction(Fraction(str(value)))
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return f"(- {self.term(inner)})"
            case ast.BinOp(left=base, op=ast.Pow(), right=exponent):
                return self._power(base, exponent)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
                return f"({self.term(left)} {_OPERATIONS[type(op)]} {self.term(right)})"
            case ast.Name(id=name) if name in self.functions:
                return f"({name} {self.bound[-1]})" if self.bound else name
            case ast.Name(id=name) if name in self.bound:
                return f"(INR {name})"
            case ast.Name(id=name):
                text = _LETTERS.get(name, name)
                return f"({text})" if " " in text else text
            case ast.Call(func=ast.Name(id=name), args=args):
                return f"({self._call(name, args)})"
        raise NoCoq(f"Coq has nothing for {ast.unparse(node)}")

    @staticmethod
    def _fraction(value: Fraction) -> str:
        return str(value) if value.denominator == 1 else f"({value.numerator} / {value.denominator})"

    def _power(self, base: ast.expr, exponent: ast.expr) -> str:
        whole = self.natural(exponent)
        if whole is not None:
            return f"({self.term(base)} ^ {whole})"
        return f"(rpow {self.term(base)} {self.term(exponent)})"

    def natural(self, node: ast.expr) -> str | None:
        """A natural number as a term of type nat, where it is one as it stands."""
        match node:
            case ast.Constant(value=int(value)) if value >= 0:
                return str(value)
            case ast.Name(id=name) if name in _NATURAL or name in self.bound or name in ("l", "h", "t", "k", "i"):
                text = _NATURAL.get(name, name)
                return f"({text})" if " " in text else text
            case ast.BinOp(left=left, op=ast.Add(), right=ast.Constant(value=1)):
                inner = self.natural(left)
                return inner and f"(S {inner})"
            case ast.BinOp(left=ast.Name(id=name), op=ast.Sub(), right=ast.Constant(value=1)) if name in SIZES:
                return f"({SIZES[name]} - 1)%nat"  # there is at least one
            case ast.BinOp(left=ast.Constant(value=1), op=ast.Add(), right=right):
                inner = self.natural(right)
                return inner and f"(S {inner})"
            case ast.Call(func=ast.Name(id="floor"), args=[ast.BinOp(left=a, op=ast.Div(), right=b)]):
                above, below = self.natural(a), self.natural(b)
                return f"({above} / {below})%nat" if above and below else None
            case ast.BinOp(left=a, op=ast.Pow(), right=b):
                base, power = self.natural(a), self.natural(b)
                return f"({base} ^ {power})%nat" if base and power else None
        return None

    def place(self, node: ast.expr) -> str:
        match node:
            case ast.BinOp(left=left, op=ast.Sub(), right=ast.Constant(value=int(less))):
                return f"({self.place(left)} - {less})%nat"
        found = self.natural(node)
        if found is None:
            raise NoCoq(f"Coq has nothing for the place {ast.unparse(node)}")
        return f"{found}%nat" if found.isdigit() else found

    def array(self, node: ast.expr) -> str:
        """X[l], W[l, h], W_QK[l, h] or P[l, h]."""
        match node:
            case ast.Subscript(value=ast.Name(id=name)):
                return f"({name} N {self.places(node)})"
        raise NoCoq(f"Coq has nothing for the array {ast.unparse(node)}")

    def places(self, node: ast.expr) -> str:
        assert isinstance(node, ast.Subscript)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return " ".join(map(self.place, parts))

    def _call(self, name: str, args: list[ast.expr]) -> str:
        kind, _, index = name.partition("_")
        word = ast.unparse(args[-1]) if args else ""
        if name in _PLAIN:
            return f"{_PLAIN[name]} {self.term(args[0])}"
        if name in ("max", "min"):
            *rest, text = map(self.term, args)
            for part in reversed(rest):
                text = f"(R{name} {part} {text})"
            return text[1:-1]
        if name == "floor":
            return f"IZR (Int_part {self.term(args[0])})"
        if kind in _FOLDS and index in _ENDS:
            inner = Printer(self.functions, (*self.bound, index)).term(args[0])
            return f"{_FOLDS[kind].format(end=_ENDS[index])} (fun {index} => {inner})"
        if name in _OF_ARRAY:
            return f"{name} {self.array(args[0])}"
        if name in _WITH_EXPONENT:
            return f"{name} {self.array(args[0])} p_{word}"
        if name in _WITH_NAME:
            return f"{name}_{word} {self.array(args[0])}"
        if name == "recursion":
            step = Printer(self.functions, (*self.bound, "l")).term(args[2])
            return f"Language.recursion (layers N) {self.term(args[1])} (fun l {ast.unparse(args[0])} => {step})"
        if name == "diagonal":
            return f"diagonal {self.array(args[0])} {self.place(args[1])}"
        if name in _PLAIN_WORDS | _ALONE_WORDS:
            places = [self.places(part) if isinstance(part, ast.Subscript) else self.place(part) for part in args]
            return " ".join([name, "N", *places])
        if name in _OF_PLACE:
            consensus = "0" if ast.unparse(args[0]).startswith("P0") else ""
            return f"{name}{consensus} N {self.places(args[0])}"
        if name in _ABOUT:
            return f"{name}_{word} N {'center ' if word == 'composite' else ''}{self.places(args[0])}"
        if name == "gamma":
            return f"gamma N center {self.places(args[0])}"
        if name == "product_norm":
            return f"product_norm N p_{word}"
        if name == "lipschitz":
            return f"lipschitz N {self.place(args[0])}"
        if name == "contraction":
            return f"contraction N r {self.place(args[0])}"
        raise NoCoq(f"Coq has no word for {name}")

    def formula(self, node: ast.expr) -> str:
        """A proposition; nothing where it says nothing."""
        match node:
            case ast.Compare(left=ast.Name(id=name), ops=[ast.Eq()], comparators=[ast.Name(id=word)]) if (
                name in _SWITCHES
            ):
                if name in UNPRINTED:  # said once, by `hypotheses_meant`
                    return ""
                return f"{name}_{word} N" if word in _SAID[name] else ""
            case ast.Compare(left=ast.Name(id="mask"), comparators=[ast.Call(func=ast.Name(id=word), args=[number])]):
                # Of other masks with a number nothing is needed: what is proved is proved for any mask.
                return f"mask_{word}_of N {self.term(number)}" if word in ("window", "causal_window") else ""
            case ast.Compare(left=ast.Name(id="kv_heads"), comparators=[ast.Constant()]):
                return ""  # what is proved is proved whether or not heads share their keys
            case ast.Compare(left=left, ops=ops, comparators=rights):
                sides = [self.term(part) for part in (left, *rights)]
                signs = [_SIGNS[type(op)] for op in ops]
                parts = [f"{a} {sign} {b}" for a, sign, b in zip(sides, signs, sides[1:], strict=False)]
                return " /\\ ".join(parts)
            case ast.Call(func=ast.Name(id=name), args=[]):
                return f"{name} N"
            case ast.Call(func=ast.Name(id="definite"), args=[array]):
                return f"definite {self.array(array)}"
            case ast.BoolOp(op=ast.And(), values=values):
                return " /\\ ".join(f"({self.formula(part)})" for part in values)
        raise NoCoq(f"Coq has nothing for {ast.unparse(node)}")


def by_letters(text: str) -> str:
    """A text in which each size is named by its letter.

    >>> by_letters("heads == kv_heads")
    'H == kv_heads'
    """
    return re.sub(rf"\b({'|'.join(ALIASES)})\b", lambda found: ALIASES[found[1]], text)


def parsed(text: str) -> ast.expr:
    return ast.parse(by_letters(text), mode="eval").body


class _Named(ast.NodeTransformer):
    """A word in the place of the letter p."""

    def __init__(self, word: str) -> None:
        self.word = word

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self.word) if node.id == "p" else node


def exponents(node: ast.expr) -> list[ast.expr]:
    """What is said of every exponent p, said of each of the three."""
    return [_Named(word).visit(parsed(ast.unparse(node))) for word in ("1", "2", "inf")]


BOUNDS = {"l": "(l < layers N)%nat", "h": "(h < heads N)%nat", "i": "(i < tokens N)%nat"}
SIZES = {"n": "tokens N", "d": "dim N", "H": "heads N", "L": "layers N"}


def hypothesis(text: str) -> str:
    """A hypothesis: sizes as natural numbers, and a quantifier where it holds for all l or h."""
    node = parsed(text)
    match node:
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Eq()], comparators=[ast.Constant(value=int(value))]) if (
            name in SIZES
        ):
            return f"{SIZES[name]} = {value}%nat"
        case ast.Call(func=ast.Name(id=name), args=[inner]) if name in ("all_l", "all_h"):
            index = name[-1]
            return f"(forall {index}, {BOUNDS[index]} -> {hypothesis(ast.unparse(inner))})"
    return Printer().formula(node)


def proposition(node: ast.expr) -> str:
    """A claim: all its relations."""
    match node:
        case ast.BoolOp(op=ast.And(), values=values):
            return _all_of([proposition(part) for part in values])
        case ast.Call(func=ast.Name(id="all_p"), args=[inner]):
            return _all_of([proposition(part) for part in exponents(inner)])
        case ast.Call(func=ast.Name(id=name), args=[inner]) if name[:4] == "all_" and name[4:] in BOUNDS:
            return f"forall {name[-1]}, {BOUNDS[name[-1]]} -> {proposition(inner)}"
    return Printer().formula(node)


def _all_of(parts: list[str]) -> str:
    *rest, said = parts
    for other in reversed(rest):
        said = f"({other}) /\\ ({said})"
    return said


def letters(texts: Iterable[str]) -> set[str]:
    """The names in formulas, functions and arrays apart, and without the indices that folds bind."""
    found: set[str] = set()

    def visit(node: ast.AST, bound: frozenset[str]) -> None:
        match node:
            case ast.Name(id=name):
                if name not in bound:
                    found.add(name)
            case ast.Call(func=ast.Name(id="recursion"), args=[ast.Name(id=value), start, step]):
                visit(start, bound)
                visit(step, bound | {value, "l"})
            case ast.Call(func=ast.Name(id=name), args=args):
                kind, _, index = name.partition("_")
                inner = bound | {index} if kind in (*_FOLDS, "all") and index in _ENDS else bound
                for part in args:
                    visit(part, inner)
                found.update({name} & {"gamma", "contraction"})
            case ast.Subscript(slice=places):
                visit(places, bound)
            case _:
                for child in ast.iter_child_nodes(node):
                    visit(child, bound)

    for text in texts:
        visit(parsed(text), frozenset())
    return found


def lemma_rows() -> list[Row]:
    """The lemmas that are proved in Coq, with their texts and theorems."""
    return [
        {"name": name, "claim": lemma.text, "given": list(lemma.given), "file": f"{file}.v", "theorem": theorem}
        for name, lemma in lemma_table().items()
        for file, _, theorem in [lemma.coq.partition(".")]
        if theorem
    ]


def identifier(name: str) -> str:
    """A lemma's name as a name of Coq.

    >>> identifier("token-norms[max,sqrt(n),2]")
    'token_norms_max_sqrt_n_2'
    """
    return re.sub(r"\W+", "_", name).strip("_")


def demand_words(texts: Iterable[str], words: Mapping[str, str]) -> bool:
    """Whether words of Bridge.v are used, and refuse them of networks that they are not written for."""
    used = {node.func.id for text in texts for node in ast.walk(parsed(text)) if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)}  # fmt: skip
    alone = words.get("mlp", "none") == "none" and (
        words.get("layernorm", "none") == "none"
        or (words["layernorm"] == "sphere" and words.get("norm_at") == "after" and not used & _ALONE_WORDS)
    )
    logits = all(words.get(switch, "none") == "none" for switch in ("positions", "softcap", "qk_norm"))
    for name in sorted(used & (_PLAIN_WORDS | _ALONE_WORDS)):
        if not alone or (name in _PLAIN_WORDS and not logits):
            raise NoCoq(f"{name} is written there for attention alone")
    return bool(used & _BRIDGED)


def demand_powers(texts: Iterable[str], positive: Callable[[str], bool]) -> None:
    """Refuse a power whose exponent may be 0: 0 to the power 0 is 1 in the language, and 0 in Network.v."""
    for text in texts:
        for node in ast.walk(parsed(text)):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and Printer().natural(node.right) is None:
                number = Fraction(ast.unparse(node.right)) if re.fullmatch(r"-?\d+", ast.unparse(node.right)) else 0
                tower = re.fullmatch(r"\([2-9] \*\* L - 1\)( / \d+)?", ast.unparse(node.right))
                if not (number or tower or positive(ast.unparse(node.right)) or positive(ast.unparse(node.left))):
                    raise NoCoq(f"the exponent {ast.unparse(node.right)} may be 0")


#: Letters that a theorem quantifies over, and what each of them must be.
BINDERS = {
    "t": "forall t, (t <= layers N)%nat ->",
    "l": "forall l, (l < layers N)%nat ->",
    "h": "forall h, (h < heads N)%nat ->",
    "r": "forall r, is_radius N r ->",
    "x_star": "forall x_star, x_star_is x_star ->",
    "center": "forall center, are_centers N center ->",
}
#: Lemmas with d_qk or with a word for a whole network: the tactic of Network.v that proves each.
_PROOFS = {
    "lipschitz-none": "by_no_mlp.",
    "product-norm": "intros. exact (lemma_product_norm (dim N) (fun l => W N l 0%nat) (layers N)).",
    "range-longest": "intros. in_words. now apply range_longest_N.",
    "delta-mean": "by_form delta_form_N.",
    "dobrushin-tanh": "by_form dobrushin_form_N.",
    "gamma": "by_gamma.",
    **{
        name: "intros N Hp l Hl h Hh C. in_words. "
        "match goal with |- context [P N l h] => destruct (as_head N Hp l h) as [d [dq [hd [Y [_ [M [-> _]]]]]]] "
        "| _ => destruct (as_head0 N Hp l h) as [d [dq [hd [Y [M ->]]]]] end. "
        f"apply lemma_{name.replace('-', '_')}; rewrite ?M; first [now apply first_alone|needed]."
        for name in ("entropy-causal", "attention-max-causal", "diagonal-first")
    },
    "degree-causal-window": "intros N Hp k C. in_words. now apply degree_causal_window.",
    "degree-window": "intros N Hp k C. in_words. now apply degree_window.",
    "consensus-degree": "intros N Hp l _ h _ S. in_words. rewrite P0_plain by assumption. "
    "apply (lemma_consensus_degree (tokens N) (dim N) (dim N) (plain_head N l h)); needed.",
    "contraction-blocks": "by_blocks.",
    "rank-depth": "intros N Hp t Bt H1 S A M. in_words. apply (lemma_rank_depth (tokens N) (dim N) (block_of N) (X N) "
    "(layers N)); [intros; now apply X_next|reflexivity|intros; exact S|intros; apply INR_eq; exact H1|intros; "
    "now apply Ph|exact Bt].",
    "dobrushin-causal": "intros N Hp l _ h _ C. in_words. unfold mask_causal in C. rewrite C. "
    "apply lemma_dobrushin_causal; needed.",
    **{
        name: "intros N Hp l _ h _ S K. in_words. rewrite P0_plain by assumption. "
        f"apply lemma_{name.replace('-', '_')}; first [exact K|needed]."
        for name in ("consensus-max", "consensus-dobrushin", "consensus-entropy")
    },
    "degree-causal": "intros N Hp C. in_words. unfold mask_causal in C. rewrite C. apply lemma_degree_causal.",
}


def hypotheses_meant(words: Mapping[str, str]) -> list[str]:
    """What Network.v says of the switches that are mostly left out: plain logits, and where LayerNorm stands."""
    at = words.get("norm_at")
    if at == "any" or (at == "before" and words.get("mlp", "none") != "none"):
        raise NoCoq("Coq has no LayerNorms anywhere, nor in front of MLPs")
    logits = all(words.get(switch) == "none" for switch in ("positions", "softcap", "qk_norm"))
    return ["plain N"] * logits + [f"norm_{at} N"] * (at is not None)


def spoken_of(texts: Iterable[str]) -> list[str]:
    """What formulas speak of beside the network: the radius of its mask, the number x*, and centres of its tokens."""
    told = list(texts)
    used = letters(told)
    about = any(re.search(r"gamma\(|(delta|q_max|q_min)\([^()]*composite", text) for text in told)
    return ["r"] * bool(used & {"r", "contraction"}) + ["x_star"] * ("x_star" in used) + ["center"] * about


def header(row: Row) -> list[str]:
    """The lines `forall …` of a theorem about any network, and its hypotheses."""
    used = letters([row["claim"], *row["given"]])
    lines = ["forall N, proper N ->"]
    lines += [BINDERS[name] for name in ("t", "l", "h") if name in used]
    lines += [BINDERS[word] for word in spoken_of([row["claim"], *row["given"]])]
    numbers, functions = sorted(used & set("xyz")), sorted(used & set("fg"))
    numbers += ["k"] * ("k" in letters([row["claim"]]))
    lines += [f"forall {' '.join(numbers)} : R,"] * bool(numbers)
    lines += [f"forall {' '.join(functions)} : nat -> R,"] * bool(functions)
    texts = [*meant([row["claim"], *row["given"]], "proof" in row).values(), *row["given"]]
    words = dict(text.split(" == ") for text in texts if text.partition(" == ")[0] in UNPRINTED)
    lines += [f"{text} ->" for text in hypotheses_meant(words)]
    printer = Printer(frozenset(functions))
    printed = [hypothesis(text) if "proof" in row else printer.formula(parsed(text)) for text in row["given"]]
    if "k" not in numbers:  # a window of any size
        printed = [re.sub(r"^(mask_\w+)_of N k$", r"\1 N", text) for text in printed]
    return lines + [f"{text} ->" for text in printed if text]


def lemma_theorem(row: Row) -> str:
    """A lemma as a theorem about any network, printed from its text."""
    name, claim = row["name"], row["claim"]
    functions = frozenset(letters([claim]) & set("fg"))
    said = Printer(functions).formula(parsed(claim))
    module = row["file"].removesuffix(".v")
    proof = _PROOFS.get(name.partition("[")[0], f"by_theorem {module}.{row['theorem']}.")
    lines = "\n  ".join([*header(row), said])
    return f"(** {name}: {claim} *)\nTheorem L_{identifier(name)} :\n  {lines}.\nProof. {proof} Qed."


def statement_rows() -> list[Row]:
    """The registered statements that Registered.v has, in the words of Network.v, with the theorems that prove them."""
    order = proved_theorems()
    return [
        {"name": name, "claim": NETWORK_CLAIMS[name][1], "given": list(NETWORK_CLAIMS[name][2]), "proof": order[name]}
        for name in usable_statements()
        if name in order and name not in NOT_IN_COQ
    ]


def proved_theorems() -> dict[str, str]:
    """Of each statement the theorem FILE.proved_KEY, as the files of proofs/coq have them."""
    found = {}
    for path in sorted((proofs_folder() / "coq").glob("*.v")):
        for name in re.findall(r"^Theorem (proved_\w+) :", path.read_text(encoding="utf-8"), re.M):
            found[name] = f"{path.stem}.{name}"
    return {
        key: found[f"proved_{identifier(key)}"] for key in usable_statements() if f"proved_{identifier(key)}" in found
    }


def statement_theorem(row: Row) -> str:
    """A registered statement as a theorem about any network."""
    name, claim = row["name"], row["claim"]
    words = dict(text.split(" == ") for text in row["given"] if re.fullmatch(r"\w+ == \w+", text))
    demand_words([claim, *row["given"]], {**_DEFAULT_WORDS, **words})
    lines = "\n  ".join([*header(row), proposition(parsed(claim))])
    return f"(** {name} *)\nTheorem S_{identifier(name)} :\n  {lines}.\nProof. by_statement {row['proof']}. Qed."


def registered_file() -> str:
    """The text of Registered.v."""
    rows = statement_rows()
    files = sorted({row["proof"].partition(".")[0] for row in rows})
    first = (
        "(** Registered statements in the words of Network.v, for derivations that cite them; printed by\n"
        "    [python -m rankmath.certificates.coq_words registered]: do not edit. *)\n"
        "Require Import Reals Lra Lia.\n"
        "From Rankmath Require Import Definitions Functions Norms Masks dong2021 Quantities Lemmas_layer Network"
        " Bridge.\n"
        f"From Rankmath Require {' '.join(files)}.\n"
        "Local Open Scope R_scope."
    )
    return _wrapped((first, *map(statement_theorem, rows)))


def lemmas_file() -> str:
    """The text of Lemmas.v."""
    printed = [lemma_theorem(row) for row in lemma_rows()]
    files = sorted({row["file"].removesuffix(".v") for row in lemma_rows()} - {"Network"})
    first = (
        "(** Every lemma of the prover about networks, from its text; printed by\n"
        "    [python -m rankmath.certificates.coq_words]: do not edit.  The words are those of Network.v,\n"
        "    the proofs those of the files Lemmas_*.v. *)\n"
        "Require Import Reals Lra Lia Psatz.\n"
        "From Rankmath Require Import Definitions Functions Norms Masks dong2021 Quantities.\n"
        f"From Rankmath Require Import {' '.join(files)} Network.\n"
        "Local Open Scope R_scope."
    )
    return _wrapped((first, *printed))


def _wrapped(parts: Iterable[str]) -> str:
    wrapper = textwrap.TextWrapper(118, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    lines = "\n\n".join(parts).splitlines()
    return "\n".join(piece for line in lines for piece in wrapper.wrap(line) or [""]) + "\n"


if __name__ == "__main__":
    print(registered_file() if sys.argv[1:] == ["registered"] else lemmas_file(), end="")
