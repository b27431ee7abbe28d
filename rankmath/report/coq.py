"""Every registered statement as a proposition of Coq: printed from its formula, its hypotheses and its letters.

``python -m rankmath.report.coq`` prints proofs/coq/Statements.v. The words of the language are defined in
proofs/coq/Language.v; their arguments' types are read from there. Nobody writes a proposition by hand: a proof in
Coq ends with ``Theorem proved_KEY : statement_KEY`` or ``refuted_KEY : ~ statement_KEY``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby

from rankmath.claims import statements
from rankmath.files import proofs_folder
from rankmath.formula.terms import (
    INDICES,
    Both,
    Call,
    Every,
    Formula,
    Item,
    Letter,
    Number,
    Operation,
    Relation,
    Term,
    replaced,
    walk,
)
from rankmath.report.sources import without_theorem
from rankmath.validation import InvalidArgument
from rankmath.verification.statement import Statement

#: Longest line of the file.
WIDTH = 117


@dataclass(frozen=True)
class Data:
    """The arrays of a statement in Coq, and what its instances must be, beside the hypotheses that it states."""

    binders: str
    conditions: tuple[str, ...] = ()

    @property
    def types(self) -> dict[str, str]:
        return {
            name: kind.strip()
            for names, kind in re.findall(r"\(([\w ]+) : ([^()]+)\)", self.binders)
            for name in names.split()
        }


#: What a condition on the arrays is, where it is not that their sizes are positive, tokens see what a mask says, and
#: rows of a sequence are stochastic: what is declared of them beside is not asked for.
_NONZERO = "(forall i, (i < n)%nat -> 0 < l2 d (X i))"
_SIZES = ("(0 < n)%nat", "(0 < d)%nat")
_DECAY = ("(0 < n)%nat", "(forall i j, (i < n)%nat -> (j < n)%nat -> 0 < E i j)", "0 < a < 1")
_CONDITIONS: Mapping[str, tuple[str, ...]] = {
    "seed:closure": ("(0 < t)%nat", "(0 < n)%nat"),
    "dong2021:norm": _SIZES,
    "own:tv": ("(0 < m)%nat",),
    **dict.fromkeys(("dong2021:2.1", "dong2021:2.1-skip"), (*(f"(0 < {s})%nat" for s in "tknd"), "stochastic_heads P")),
    **dict.fromkeys(("own:alibi-decay", "wu2025:4.4"), _DECAY),
    **dict.fromkeys(("wu2024:L13", "wu2024:L13-repaired"), ("(2 <= d)%nat",)),
    **dict.fromkeys(("geshkovski2024:cluster", "own:cluster"), (*_SIZES, _NONZERO)),
    **dict.fromkeys(("geshkovski2024:escape", "own:escape"), (*_SIZES, _NONZERO, "0 < l2 d w")),
    "karagodin2025:4.3": ("(2 <= n)%nat", "(0 < d)%nat"),
    "own:cluster-speed": ("(2 <= n)%nat", "(0 < d)%nat", _NONZERO),
    **dict.fromkeys(("he2023:e-spa", "he2023:u-spa"), ("(0 < size)%nat",)),
    **dict.fromkeys(("own:flow-one-cluster", "own:flow-subspace"), ("(0 < d)%nat", "0 < l2 d x")),
    "own:flow-second-value": ("(2 <= d)%nat", "0 < l2 d x"),
    "own:pre-norm-symmetric": ("(2 <= d)%nat",),
    **dict.fromkeys(
        ("karagodin2024:two-clusters", "karagodin2024:two-clusters-symmetric"),
        (*_SIZES, "(0 < e)%nat", "0 <= beta", "unit_rows X"),
    ),
    **dict.fromkeys(("own:mask-rate", "own:mask-rate-symmetric", "own:stable-causal-every-n"), ()),
    **dict.fromkeys(
        ("own:stable-complete-every-n", "own:stable-connected", "own:stable-every-rank"), ("is_mask allowed",)
    ),
    "own:stable-causal": ("(2 <= dim)%nat",),
    "karagodin2024:subspace-two": (),
    "own:stable-complete": ("(2 <= n)%nat",),
    "wu2024:3": _SIZES,
    "wu2024:anisotropy": ("(2 <= k)%nat", "(k <= n)%nat", "(forall j, sgn j = 1 \\/ sgn j = -1)"),
    "geshkovski2023:orthogonal": ("(2 <= m)%nat",),
}
_HEAD_ON_SPHERE = "(n d : nat) (X : matrix n d) (W_V : matrix d d) (W_QK : matrix d d) (allowed : matrix n n)"
_PATHS = "(t k n d : nat) (X : matrix n d) (P : stack t k n n) (W : stack t k d d) (bias : matrix t d) (skip : R)"
#: What the arrays are, where Coq has other names or types for them than their declaration.
_BINDERS: Mapping[str, str] = {
    **dict.fromkeys(("dong2021:2.1", "dong2021:2.1-skip"), _PATHS),
    "dong2021:norm": "(n d : nat) (A B : matrix n d)",
    "own:tv": "(m : nat) (c g : vector m)",
    "karagodin2024:subspace-two": "(m d : nat) (lam : R) (M : matrix m m) (B : matrix d d) (X : matrix 2 d)",
    "karagodin2025:4.3": "(beta : R) (n d : nat) (X : matrix n d)",
    **dict.fromkeys(
        ("own:flow-one-cluster", "own:flow-second-value"),
        "(d : nat) (lam : vector d) (B : matrix d d) (x : vector d) (m : R)",
    ),
    "own:flow-subspace": "(d : nat) (lam : vector d) (c : R) (x : vector d) (m : R)",
    **dict.fromkeys(("own:late", "geshkovski2023:late", "geshkovski2023:late-printed"), "(gamma beta m : R)"),
    "own:stable-rank-two-every-n": "(n : nat) (tokens : shape n 2)",
    "wu2024:3-whole": "(n d : nat) (sizes : shape n d)",
    "wu2024:3": "(n d : nat) (sizes : shape n d) (w : R)",
    "wu2024:3-measure": "(n : nat) (tokens : shape n n)",
    "wu2024:anisotropy": "(n k : nat) (sgn : nat -> R) (w : shift n k sgn)",
    **dict.fromkeys(("own:stable-complete", "wu2024:conjecture"), _HEAD_ON_SPHERE),
}
_TYPES = ("R", "vector", "matrix", "sequence", "stack")


def declared(entry: Statement) -> Data:
    """The arrays of a statement as it declares them.

    >>> from rankmath.claims import statement
    >>> declared(statement("own:zero-grad")).binders
    '(n d m : nat) (Z : matrix n d) (M : matrix d d) (V : matrix d m) (G : matrix d d)'
    """
    types: dict[str, str] = {}
    sizes, conditions = set(), []
    for name, text in entry.arrays.items():
        axes, *said = (part.strip() for part in text.partition(" = ")[0].split(","))
        letters = axes.split()
        if letters[:1] == ["mask"]:
            letters = letters[1:] * 2
            conditions.append(f"is_mask {name}")
        kind = "nat" if "whole" in said and not letters else _TYPES[len(letters)]
        if kind == "sequence":  # of square matrices
            del letters[2]
            conditions.append(f"row_stochastic {name}")
        sizes |= {letter for letter in letters if not letter.isdigit()}
        types[name] = " ".join((kind, *letters))
    order = sorted(sizes, key="tkndem".find)
    groups = [(order, "nat")] if order else []
    groups += [([*names], kind) for kind, names in groupby(types, types.__getitem__)]
    binders = " ".join(f"({' '.join(names)} : {kind})" for names, kind in groups)
    every = (*(f"(0 < {size})%nat" for size in order), *conditions)
    return Data(_BINDERS.get(entry.key, binders), _CONDITIONS.get(entry.key, every))


_NETWORK = Data("(N : network)", ("proper N",))
#: Where positions of every kind are allowed, logits are any functions of the tokens that a layer reads; words about
#: queries and keys, rotations, RMSNorm before attention or maps of single tokens need networks that have these parts.
_KINDS = {
    "normed": Data("(N : normed)", ("proper N", "normable N")),
    **{kind: Data(f"(N : {kind})", ("proper N",)) for kind in ("fed", "rotated", "placed", "scored")},
}
#: A claim about positions is refuted for rotary ones, by angles, and W_QK = W_Q W_Kᵀ: it says less of these alone.
_ROTARY = Data("(N : rotated)", ("proper N", "turns_heads N"))
#: With LayerNorm over columns, of which the network of Language.v has none, eps is that of its denominators.
_COLUMN = Data("(N : network) (eps : R)", ("proper N", "0 <= eps"))
#: Letters of a network: how each is written, and its type.
_LETTERS = {
    "n": ("tokens N", "nat"),
    "d": ("dim N", "nat"),
    "H": ("heads N", "nat"),
    "L": ("layers N", "nat"),
    "d_qk": ("d_qk N", "R"),
    "skip": ("skip_of N", "R"),
    "in_degree": ("in_degree N", "R"),
    "r": ("r", "nat"),
    "K": ("(layers N + r - 1) / r", "nat"),
    "x_star": ("x_star", "R"),
}
#: Letters that a property defines, and the composite centres, of which there may be several: what is said of each.
_DEFINED = {
    "x_star": "is_x_star",
    "r": "is_radius N",
    "center": "are_centers N",
    "center_count": "is_center_count N",
    "farthest": "is_farthest N",
}
_PLAIN = {"sqrt": "sqrt", "exp": "exp", "log": "ln", "tanh": "tanh", "abs": "Rabs"}
_REDUCTIONS = {"sum": "sum", "max": "largest", "min": "least", "prod": "prodf"}


#: How strongly Coq's signs bind, the strongest last.
_SUM, _PRODUCT, _MINUS, _POWER, _APPLIED, _WORD = 50, 40, 35, 30, 10, 0


class Unprintable(InvalidArgument):
    """A statement with a word that Language.v does not define."""


@dataclass(frozen=True)
class Word:
    """A word of the language in Coq: the explicit parameters, name and type, and the type of its value."""

    parameters: tuple[tuple[str, str], ...]
    value: str


@cache
def words() -> dict[str, Word]:
    """The words that Language.v defines.

    >>> words()["least_length"]
    Word(parameters=(('Y', 'matrix n d'), ('k', 'nat')), value='R')
    """
    text = re.sub(r"\n +", " ", (proofs_folder() / "coq" / "Language.v").read_text(encoding="utf-8"))
    found = {}
    pattern = r"^(?:Definition|Fixpoint) (\w+)((?: \{[^}]*\}| \([^()]*\))*) : ([\w ]+) :="
    for name, binders, value in re.findall(pattern, text, re.MULTILINE):
        explicit = re.findall(r"\(([\w ]+) : ([^()]+)\)", binders)
        found[name] = Word(tuple((one, kind) for names, kind in explicit for one in names.split()), value.strip())
    return found


def identifier(key: str) -> str:
    """The key as a name of Coq.

    >>> identifier("wu2024:L13-repaired")
    'wu2024_L13_repaired'
    """
    return re.sub(r"\W", "_", key)


def own_name(letter: str) -> str:
    """A letter of a statement's own in Coq: one that is a word of the language too gets a stroke.

    >>> own_name("beta"), own_name("least")
    ('beta', "least'")
    """
    return f"{letter}'" if letter in words() else letter


@dataclass
class _Printer:
    """One statement: the types of its letters, and the letters met on the way that a property defines."""

    types: Mapping[str, str]
    network: bool
    bound: tuple[str, ...] = ()
    met: list[str] = field(default_factory=list)
    own: set[str] = field(default_factory=set)
    kind: str = "network"
    column: bool = False

    # -- natural numbers -----------------------------------------------------------------------------------

    def nat(self, term: Term) -> str | None:
        """The term as a natural number, where it is one as it stands; None where it is not."""
        match term:
            case Number(value=value):
                return str(value) if value.denominator == 1 and value >= 0 else None
            case Letter(name=name):
                text, kind = self.letter(name)
                return text if kind == "nat" else None
            case Operation(operator="+" | "*" as operator, terms=(a, b)):
                return self._joined(operator, self.nat(a), self.nat(b))
            case Operation(operator="**", terms=(Number(value=base), b)) if base > 0:
                return self._joined("^", self.nat(Number(base)), self.nat(b))
            case Operation(operator="-", terms=(a, Number(value=one))) if one == 1:
                return self._joined("-", self.nat(a), "1")  # of what is never 0
            case Operation(operator="/", terms=(Operation(operator="-", terms=(power, _)), Number(value=two))) if (
                isinstance(power, Operation)
                and power.operator == "**"
                and power.terms[0] == Number(type(two)(3))
                and two == 2
            ):
                return self._joined("/", f"({self.nat(power)} - 1)", "2")  # 3^L - 1 is even
            case Call(function="floor", terms=(Operation(operator="/", terms=(a, b)),)):
                return self._joined("/", self.nat(a), self.nat(b))
            case Operation(
                operator="neg",
                terms=(
                    Call(
                        function="floor",
                        terms=(Operation(operator="/", terms=(Operation(operator="neg", terms=(a,)), b)),),
                    ),
                ),
            ):
                above, below = self.nat(a), self.nat(b)
                return None if above is None or below is None else f"(({above} + {below} - 1) / {below})"
            case Call(function=name, terms=()) if name in _DEFINED:
                self.letter_met(name)
                return name
            case Call(function=name) if name in words() and words()[name].value == "nat":
                return f"({self.applied(term)})"
        return None

    @staticmethod
    def _joined(operator: str, a: str | None, b: str | None) -> str | None:
        return None if a is None or b is None else f"({a} {operator} {b})"

    # -- real numbers --------------------------------------------------------------------------------------

    def letter(self, name: str) -> tuple[str, str]:
        if name in self.bound:
            return name, "exponent" if name == "p" else "R" if name == "b" else "nat"
        if name in self.types:
            return (own_name(name) if name in self.own else name), self.types[name]
        if name in _DEFINED and name not in self.met:
            self.met.append(name)
        if self.network and name in _LETTERS:
            if name == "K":
                self.letter("r")
            text, kind = _LETTERS[name]
            return (text if text.isidentifier() else f"({text})"), kind
        if name == "x_star":
            return name, "R"
        if name == "n" and not self.network:
            return next(("n", "nat") for kind in self.types.values() if kind == "nat")
        raise Unprintable(f"the letter {name}")

    def real(self, term: Term, level: int = _SUM) -> str:
        """The term as a real number, in parentheses where it binds less than `level`."""
        match term:
            case Number(value=value) if value >= 0 and value.denominator == 1:
                return str(value)
            case Number(value=value):
                top = str(value.numerator) if value >= 0 else f"- {-value.numerator}"
                fraction = value.denominator != 1
                return _held(
                    f"{top} / {value.denominator}" if fraction else top, _PRODUCT if fraction else _MINUS, level
                )
            case Operation(operator="neg", terms=(a,)) if self.nat(term) is None:
                return _held(f"- {self.real(a, _MINUS)}", _MINUS, level)
            case Operation(operator="**", terms=(a, b)):
                whole = self.nat(b)
                if whole is None:
                    return _held(f"power {self.real(a, _WORD)} {self.real(b, _WORD)}", _APPLIED, level)
                return _held(f"{self.real(a, _WORD)} ^ {whole}", _POWER, level)
            case Operation(operator="+" | "-" | "*" | "/" as operator, terms=(a, b)):
                own = _SUM if operator in "+-" else _PRODUCT
                return _held(f"{self.real(a, own)} {operator} {self.real(b, own - 1)}", own, level)
        whole = self.nat(term)
        if whole is not None:
            return _held(f"INR {_in_nat(whole)}", _APPLIED, level)
        match term:
            case Letter(name=name):
                return self.letter(name)[0]
            case Call(function=name, terms=terms):
                return _held(self.call(name, terms, term), _APPLIED, level)
        raise Unprintable(str(term))

    def argument(self, term: Term) -> str:
        return self.real(term, _WORD)

    def call(self, name: str, terms: tuple[Term, ...], term: Call) -> str:
        if name in _PLAIN:
            return f"{_PLAIN[name]} {self.argument(terms[0])}"
        if name in ("min", "max") and terms:
            *rest, text = (self.argument(part) for part in terms)
            for part in reversed(rest):
                text = f"(R{name} {part} {text})"
            return text[1:-1]
        if name == "floor":
            raise Unprintable(f"floor of {terms[0]}")
        kind, _, index = name.partition("_")
        if kind in _REDUCTIONS and index in INDICES:
            inner = self.within(index).real(terms[0])
            count = self.nat(Letter(INDICES[index]))
            return f"{_REDUCTIONS[kind]} {_in_nat(count or '')} (fun {index} => {inner})"
        if name == "recursion":
            letter, start, step = terms
            assert isinstance(letter, Letter)
            inner = self.within("l", letter.name).real(step)
            return f"recursion (layers N) {self.argument(start)} (fun l {letter.name} => {inner})"
        return self.applied(term)

    def within(self, *names: str) -> _Printer:
        inner = (*self.bound, *names)
        return _Printer(self.types, self.network, inner, self.met, self.own, self.kind, self.column)

    def applied(self, term: Call) -> str:
        """A word of Language.v and its arguments."""
        name, left = term.function, list(term.terms)
        if left and isinstance(left[-1], Letter | Number) and name not in words():
            word = str(left[-1])
            if f"{name}_{word}" in words():
                name, left = f"{name}_{word}", left[:-1]
        name = self.of_kind(name)
        if name not in words():
            raise Unprintable(f"the word {name}")
        parts = []
        places: list[Term] = []  # of X[l] or P[l, h], where the word takes places
        for parameter, kind in words()[name].parameters:
            if kind in _KINDS or (kind == "network" and self.kind == "network"):
                parts.append("N")
            elif kind == "network":
                raise Unprintable(f"{name} of a network of the kind {self.kind}")
            elif parameter in ("center", "r"):
                self.letter_met(parameter)
                parts.append(parameter)
            elif kind == "nat" and (places or (left and isinstance(left[0], Item))):
                if not places:
                    item = left.pop(0)
                    assert isinstance(item, Item)
                    places = list(item.index)
                parts.append(_in_nat(self.nat(places.pop(0)) or ""))
            elif not left:
                raise Unprintable(f"the arguments of {name}")
            elif kind == "nat":
                given = left.pop(0)
                whole = self.nat(given)
                if whole is None:
                    raise Unprintable(f"{given}, which is no natural number, in {name}")
                parts.append(_in_nat(whole))
            elif kind == "R":
                parts.append(self.argument(left.pop(0)))
            elif kind == "exponent":
                given = left.pop(0)
                parts.append(str(given) if str(given) in self.bound else f"p_{given}")
            else:
                parts.append(self.array(left.pop(0)))
        if left or places:
            raise Unprintable(f"the arguments of {name}")
        return " ".join((name, *parts))

    def of_kind(self, name: str) -> str:
        """The word for networks of this kind, where there is one of its own."""
        own = f"{self.kind}_{name}".partition(" ")[0]
        return f"{self.kind}_{name}" if own in words() and ("N", self.kind) in words()[own].parameters else name

    def letter_met(self, name: str) -> None:
        if name not in self.met:
            self.met.append(name)

    def array(self, term: Term) -> str:
        match term:
            case Letter(name=name):
                return name
            case Item(array=name, index=index):
                at = " ".join(_in_nat(self.nat(part) or "") for part in index)
                if self.kind != "network" and name in ("X", "P", "P0"):
                    name = f"{self.kind if self.kind in ('normed', 'fed') else 'scored'}_{name}"
                if self.column and name == "X":
                    return f"(column_X N eps {at})"
                return f"({name} N {at})" if self.network else f"(row {name} {at})"
        raise Unprintable(str(term))

    # -- formulas ------------------------------------------------------------------------------------------

    def formula(self, formula: Formula) -> str:
        match formula:
            case Both(formulas=parts):
                return " /\\ ".join(f"({self.formula(part)})" for part in parts)
            case Every(index=index, formula=inner):
                text = self.within(index).formula(inner)
                if index == "p":
                    return f"forall p : exponent, {text}"
                return f"forall {index}, ({index} < {self.nat(Letter(INDICES[index]))})%nat -> {text}"
            case Relation(operator=operator, left=Letter(name=name), right=Letter(name=word)) if name in (
                "mask",
                "layernorm",
                "norm_at",
                "mlp",
                "bias",
                "key_bias",
                "query_bias",
                "positions",
                "softcap",
                "qk_norm",
            ):
                return self.switch(name, word)
            case Relation(operator=operator, left=left, right=right):
                a, b = self.nat(left), self.nat(right)
                relation = "=" if operator == "==" else operator
                if a is not None and b is not None:
                    return f"({a} {relation} {b})%nat"
                return f"{self.real(left)} {relation} {self.real(right)}"
            case Call():
                return self.applied(formula)
        raise Unprintable(str(formula))

    def switch(self, name: str, word: str) -> str:
        if word == "any":
            return ""
        if f"{name}_{word}" not in words():
            raise Unprintable(f"{name} == {word}")
        return f"{name}_{word} N"


def _held(text: str, own: int, level: int) -> str:
    return f"({text})" if own > level else text


def _closed(text: str) -> bool:
    return bool(re.fullmatch(r"[\w.']+", text)) or (text.startswith("(") and _matching(text) == len(text) - 1)


def _matching(text: str) -> int:
    depth = 0
    for at, sign in enumerate(text):
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if depth == 0:
            return at
    return -1


def _in_nat(text: str) -> str:
    if not text:
        raise Unprintable("an index that is no natural number")
    plain = text.replace("'", "").isidentifier() or (
        text.startswith("(") and text[1:-1].replace(" ", "").isidentifier()
    )
    return text if plain else f"{text}%nat"


def proposition(entry: Statement) -> str:
    """The statement as a proposition of Coq, without its name.

    >>> import rankmath as rm
    >>> print(proposition(rm.statements()["own:tv"]))
    forall (m : nat) (c g : vector m),
      (0 < m)%nat ->
      tv c g <= tanh (osc g / 4)
    """
    data, defined, lets, given, claim = parts(entry)
    premises = [text for text in given if text]
    if entry.quantifier == "some":
        lines = [f"exists {data.binders},", *(f"{text} /\\" for text in (*data.conditions, *premises)), *lets, claim]
        if defined:
            raise Unprintable("a letter that a property defines, under exists")
    else:
        conditions = [f"{text} ->" for text in data.conditions]
        named = [f"forall {name}, {word} {name} ->" for name, word in defined.items()]
        lines = [f"forall {data.binders},", *conditions, *named, *lets, *(f"{text} ->" for text in premises), claim]
    return "\n".join([lines[0], *(f"  {line}" for text in lines[1:] for line in _wrapped(text))])


def parts(entry: Statement) -> tuple[Data, dict[str, str], list[str], list[str], str]:
    """The data, letters and what defines each, local definitions, hypotheses ("" where the types say it), the claim."""
    if entry.arrays and entry.key not in statements():
        raise Unprintable("its arrays")
    kind = _kind(entry)
    turned = kind == "scored" and entry.status == "refuted"
    kind = "rotated" if turned else kind
    column = any(str(part) == "layernorm == column" for part in entry.hypotheses)
    of_networks = _COLUMN if column else _ROTARY if turned else _KINDS.get(kind, _NETWORK)
    data = declared(entry) if entry.arrays else of_networks
    printer = _Printer(dict(data.types), not entry.arrays, kind=kind, column=column)
    lets: list[str] = []
    expanded: dict[str, Term] = {}
    for name, meaning in entry.defined.items():
        term = replaced(meaning, expanded)
        if {part.name for part in walk(term) if isinstance(part, Letter)} & {*INDICES, "p"} - _reduced(term):
            expanded[name] = term
            continue
        whole = printer.nat(term)
        lets.append(f"let {own_name(name)} := {_in_nat(whole) if whole else printer.real(term)} in")
        printer.types = {**printer.types, name: "nat" if whole else "R"}
        printer.own.add(name)
    given = [printer.formula(_formula(replaced(part, expanded))) for part in entry.hypotheses]
    claim = printer.formula(_formula(replaced(entry.claimed, expanded)))
    defined = {name: printer.of_kind(word) for name, word in _DEFINED.items() if name in printer.met}
    given = [f"({text})" if text.startswith("forall") and not _closed(text) else text for text in given]
    return data, defined, lets, given, claim


def _kind(entry: Statement) -> str:
    """The networks that the statement is about: those that its words need, or any with positions."""
    terms = (entry.claimed, *entry.hypotheses, *entry.defined.values())
    used = {part.function for term in terms for part in walk(term) if isinstance(part, Call)} & words().keys()
    needed = {kind for name in used for _, kind in words()[name].parameters} - {"scored"}
    placed = any(str(part).startswith("positions == ") for part in entry.hypotheses)
    return next((kind for kind in _KINDS if kind in needed), "scored" if placed else "network")


def _reduced(term: Term) -> set[str]:
    """The indices that sums, maxima and the like of the term bind, all of which its parts use."""
    return {
        part.function.partition("_")[2]
        for part in walk(term)
        if isinstance(part, Call) and part.function.partition("_")[0] in _REDUCTIONS
    }


def _formula(term: Term) -> Formula:
    assert isinstance(term, Relation | Both | Every | Call)
    return term


def _wrapped(text: str) -> list[str]:
    """The text in lines of the file's width, broken at blanks."""
    lines = [""]
    for word in text.split(" "):
        if len(lines[-1]) + len(word) + 3 > WIDTH and lines[-1].strip():
            lines.append("  ")
        lines[-1] += word if not lines[-1].strip() else f" {word}"
    return lines


def propositions(known: Mapping[str, Statement]) -> tuple[dict[str, str], dict[str, str]]:
    """The propositions by key, and for each statement that has none what stands in the way."""
    printed, missing = {}, {}
    for key, entry in known.items():
        try:
            printed[key] = proposition(entry)
        except Unprintable as error:
            missing[key] = str(error)
    return printed, missing


_HEAD = """(** Every registered statement that can be said in the words of Language.v, as a proposition.

    Printed by [python -m rankmath.report.coq] from the formulas of the registry: do not edit.  Above each is
    its formula with what is given, as the gallery has it.  The last comment says of which of them Coq has no
    theorem, and why. *)
Require Import Reals.
From Rankmath Require Import Definitions Language.
Local Open Scope R_scope."""


def statements_file(known: Mapping[str, Statement]) -> str:
    """The text of Statements.v."""
    printed, missing = propositions(known)
    parts = [_HEAD]
    for key, text in printed.items():
        entry = known[key]
        said = [f"{key} ({entry.status}): {entry.claimed}", *(f"given {part}" for part in entry.hypotheses)]
        said += [f"where {name} = {meaning}" for name, meaning in entry.defined.items()]
        comment = "\n".join(f"    {line}" for item in said for line in _wrapped(item.replace("*)", "* )")))
        parts.append(
            f"(** {comment.strip()} *)\nDefinition statement_{identifier(key)} : Prop :=\n"
            + "\n".join(f"  {line}" for line in text.splitlines())
            + "."
        )
    why = {key: f"no proposition, for {word} stands in the way" for key, word in missing.items()}
    why |= {key: without_theorem(key) for key in known if key not in missing and without_theorem(key)}
    left = "\n".join(f"    {line}" for key, reason in why.items() for line in _wrapped(f"{key}: {reason}"))
    parts.append(f"(* Without a theorem:\n{left} *)" if left else "(* Of each there is a theorem. *)")
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    print(statements_file(statements()), end="")
