"""A statement is a formula with its hypotheses; nothing else in the library knows a theorem by name.

From the formula come the printed claim, its evaluation in every arithmetic, the sympy bound, and what a certificate
carries.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from rankmath.arithmetic.protocol import System
from rankmath.certificates.certificate import Certificate
from rankmath.definitions.hypotheses import DEFAULTS, UNPRINTED
from rankmath.formula import both, read_formula, read_term
from rankmath.formula.arrays import ArrayRun
from rankmath.formula.evaluate import Side, Subject, sides
from rankmath.formula.language import FUNCTIONS, LETTERS
from rankmath.formula.printed import NOTATION, conventions, latex_letter, said_once
from rankmath.formula.printing import at_its_word, latex, text, words
from rankmath.formula.prose import formulas
from rankmath.formula.reader import hypotheses_in
from rankmath.formula.run import Run
from rankmath.formula.terms import (
    INDICES,
    Both,
    Call,
    Every,
    Formula,
    Item,
    Letter,
    Relation,
    Term,
    as_term,
    replaced,
    walk,
)
from rankmath.validation import ArrayLike, InvalidArgument, Number, as_choice
from rankmath.verification.data import Declared, check_declared, declared_in_words, printed_data
from rankmath.verification.instance import ArrayInstance, Instance, NetworkInstance, network_instance

if TYPE_CHECKING:
    from rankmath.formula.symbolic.bound import Bound
    from rankmath.verification.verdict import Verdict

#: What is known: proved (every instance holds), refuted (an instance violates it), open (nothing yet).
Status = Literal["proved", "refuted", "open"]
STATUSES = ("proved", "refuted", "open")
#: "all": the formula holds for every instance; "some": there is an instance for which it holds.
Quantifier = Literal["all", "some"]

Draw = Callable[[np.random.Generator, int], Instance]
Formulas: TypeAlias = Formula | str

# What a claim begins with that some network is to satisfy.
_EXISTS = re.compile(r"\s*exists\b\s*:?")
# Letters that are explained where a claim is printed; the others are common.
_EXPLAINED = ("x_star", "r", "in_degree", "K")
_AT_CONSENSUS = "the attention P^{l,h} if all tokens that layer l reads were the first of them"


def _hypothesis(text: str, names: tuple[str, ...]) -> Formula:
    try:
        return read_formula(text, names)
    except InvalidArgument as error:
        raise InvalidArgument(f"given{str(error).removeprefix('claim')}") from None


@dataclass(frozen=True)
class Evaluation:
    """A statement on an instance: all hypotheses and all relations of the conclusion (every one must hold)."""

    sides: Sequence[Side]
    hypotheses: Sequence[Side] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Statement:
    """One theorem, lemma, claim or conjecture.

    Parameters
    ----------
    key : what users type, e.g. ``own:diameter``.
    formula : the conclusion, as a formula or its text; a text that begins with ``exists`` claims that some network
        has what follows.
    given : the hypotheses, one or several; a text may hold several, with commas between them. What networks have
        beside attention is said here (``mask == causal``, ``skip == 1``); without a word they are attention alone,
        with biases.
    where : letters of the formula's own, each a term.
    quantifier : "some" where the claim is that an instance exists.
    title, source, notes : words: what it says in short, who states it and where, what else is known.
    status : what is known: "proved", "refuted" or "open".
    truth : where that is shown: a file of proofs/, by default the one with the name of the claim's file.
    arrays : the data, where the statement is not about a network: the name, axes and conditions of each, as in
        ``{"E": "n m", "c": "m, > 0"}`` (see `Declared`).
    instance : makes an instance of what a user hands over, where that is something else than the arrays.
    draws : generators of batches, (rng, size) -> instance: random and structured.
    extremal : generators of single instances close to equality, from the statement's own analysis.
    exhibit : the data of a certificate that refutes the claim; or a function that gives a network that does, or
        the certificate of what refutes it or is claimed to exist.
    certificate : the names of the data of an instance's certificate (``"logits=c E"``: c is called logits there),
        or a function that makes it.
    sharp : whether equality is approached (ratio → 1).
    supremum : the largest lhs/rhs known to be approached, where it is not 1, as a term such as ``sqrt(16/27)``.
    exact : whether exact arithmetic decides every instance, one by one; unless it is said, that is so where all
        that is measured of the arrays is rational, or true or false.
    closed : the key of the statement that has the closed form, where this one is a recursion.
    share, cost : the share of a battery's instances it takes, and its rough relative cost.
    compare : how another bound does on the same instances: {words: log of a factor}.

    Examples
    --------
    >>> from rankmath.formula import W, X, diameter, norm
    >>> halves = Statement(
    ...     "mine:halves", diameter(X[1], 1) <= norm(W[0, 0], "inf") * diameter(X[0], 1) / 2, given="heads == 1"
    ... )
    >>> print(halves)
    mine:halves (open): diameter(X[1], 1) <= norm(W[0, 0], inf)*diameter(X[0], 1)/2
      given: one head, no mask, no LayerNorm, no MLP, no skip connections, no positions, logits that are not capped,
      no norms of queries and keys
    """

    key: str
    formula: Formulas
    given: Formulas | Sequence[Formulas] = ()
    where: Mapping[str, Term | str] = field(default_factory=dict)
    quantifier: Quantifier = "all"
    title: str = ""
    source: str = ""
    status: Status = "open"
    truth: str = ""
    arrays: Mapping[str, str] = field(default_factory=dict)
    instance: Callable[..., Instance] = network_instance
    draws: tuple[Draw, ...] = ()
    extremal: Callable[[np.random.Generator], Iterator[Instance]] | None = None
    exhibit: Callable[[], Certificate | NetworkInstance] | Mapping[str, ArrayLike] | None = None
    certificate: Callable[..., Certificate] | str | None = None
    sharp: bool = False
    supremum: str = ""
    exact: bool | None = None
    closed: str = ""
    notes: str = ""
    share: float = 1.0
    cost: float = 1.0
    compare: Callable[[Subject], dict[str, Number]] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.key, str) or not re.fullmatch(r"[\w.:+-]{1,80}", self.key, re.ASCII):
            raise InvalidArgument(
                f"key: {self.key!r} given; a name such as 'mine:halves' is needed, of letters from a to z, digits and "
                "the signs . : + - _"
            )
        if isinstance(self.formula, str) and (found := _EXISTS.match(self.formula)):
            # Blanks keep the columns that an error names.
            object.__setattr__(self, "formula", " " * found.end() + self.formula[found.end() :])
            object.__setattr__(self, "quantifier", "some")
        as_choice("status", self.status, STATUSES)
        as_choice("quantifier", self.quantifier, ("all", "some"))
        check_declared(self.arrays)
        if not isinstance(self.where, Mapping):
            raise InvalidArgument(
                f"where: a {type(self.where).__name__} given; a mapping of letters to terms is needed"
            )
        where: dict[str, Term] = {}
        for name, meaning in self.where.items():
            if not isinstance(name, str) or not name.isidentifier() or name in LETTERS:
                raise InvalidArgument(f"where: the letter {name!r} given; a new name is needed")
            free = (*INDICES, "p")
            term = (
                read_term(meaning, (*self.arrays, *where), free=free) if isinstance(meaning, str) else as_term(meaning)
            )
            where[name] = term
        names = (*self.arrays, *where)
        if not isinstance(self.given, str | Term | Iterable):
            raise InvalidArgument(f"given: {self.given!r} given; a text, or a sequence of hypotheses, is needed")
        given = (self.given,) if isinstance(self.given, str | Term) else tuple(self.given)
        typed = [part for entry in given for part in (hypotheses_in(entry) if isinstance(entry, str) else [entry])]
        read = [_hypothesis(part, names) if isinstance(part, str) else part for part in typed]
        formula = read_formula(self.formula, names) if isinstance(self.formula, str) else self.formula
        for part in (formula, *read):
            if not isinstance(part, Formula):
                raise InvalidArgument(
                    f"{self.key}: {part!r} is no formula; two terms with <=, <, >=, > or == are needed"
                )
        object.__setattr__(self, "formula", formula)
        object.__setattr__(self, "given", tuple(read))
        object.__setattr__(self, "where", where)
        if self.exact is None:
            exact = bool(self.arrays) and all(FUNCTIONS[name].exact for name in self.functions)
            object.__setattr__(self, "exact", exact)
        if self.arrays and self.instance is network_instance:
            object.__setattr__(self, "instance", Declared(self.arrays, bool(self.exact)))

    def certified(self, instance: Instance, verdict: Verdict) -> Certificate:
        """The certificate of an instance as the verdict decides it."""
        from rankmath.certificates.issue import certify_arrays, certify_claim

        if callable(self.certificate):
            return self.certificate(instance, verdict)
        if isinstance(instance, NetworkInstance):
            return certify_claim(self.key, self.claim_text, self.given_texts, instance.net, instance.X, verdict.kind)
        assert isinstance(self.certificate, str)
        names = (name.partition("=") for name in self.certificate.split())
        data = {name: instance[own or name] for name, _, own in names}
        return certify_arrays(self.key, data, kind=verdict.kind, decided=verdict.certified)

    @property
    def exhibit_refutes(self) -> bool:
        """Whether the exhibit's certificate refutes the claim, and is not what the claim says exists."""
        return self.status != "proved"

    def exhibited(self) -> Certificate:
        """The certificate of what refutes it, or of what it says exists."""
        from rankmath.certificates.issue import certify_arrays, certify_claim

        if isinstance(self.exhibit, Mapping):
            return certify_arrays(self.key, self.exhibit, kind="violates")
        assert self.exhibit is not None
        shown = self.exhibit()
        if isinstance(shown, Certificate):
            return shown
        return certify_claim(self.key, self.claim_text, self.given_texts, shown.net, shown.X, "violates")

    # -- what it says --------------------------------------------------------------------------------------

    @property
    def claimed(self) -> Formula:
        """The conclusion as a formula, with its own letters."""
        assert not isinstance(self.formula, str)
        return self.formula

    @property
    def defined(self) -> dict[str, Term]:
        """The letters of its own and the terms they stand for."""
        return {name: meaning for name, meaning in self.where.items() if isinstance(meaning, Term)}

    @cached_property
    def hypotheses(self) -> tuple[Formula, ...]:
        """All hypotheses: those given, and for networks what is meant where nothing is said."""
        assert isinstance(self.given, tuple)
        whole = both(*self.given) if self.given else Both(())
        given = whole.formulas if isinstance(whole, Both) else (whole,)
        if self.arrays:
            return given
        said = {term.name for part in given for term in walk(part) if isinstance(term, Letter)}
        # The factor of the skip connection is said by the claim itself where it occurs in it.
        said |= {term.name for term in walk(self.expanded) if isinstance(term, Letter)}
        return (*given, *(read_formula(meant) for name, meant in DEFAULTS.items() if name not in said))

    @cached_property
    def unsaid(self) -> tuple[Formula, ...]:
        """What a claim about networks means where it says nothing of positions, caps and norms; the layer that is
        printed with it shows it."""
        said = {term.name for part in self.hypotheses for term in walk(part) if isinstance(term, Letter)}
        return tuple(read_formula(meant) for name, meant in UNPRINTED.items() if name not in said and not self.arrays)

    @cached_property
    def expanded(self) -> Formula:
        """The formula with its own letters written out: what is evaluated and certified."""
        return self._written_out(self.claimed)

    @cached_property
    def compared(self) -> str:
        """Which side is claimed to be the smaller one, as the quotient of the sides."""
        signs = {part.operator[0] for part in walk(self.expanded) if isinstance(part, Relation)}
        return "smaller/larger" if ">" in signs and len(signs) > 1 else "rhs/lhs" if ">" in signs else "lhs/rhs"

    @cached_property
    def expanded_hypotheses(self) -> tuple[Formula, ...]:
        """The hypotheses with every letter of `where` replaced by its meaning."""
        return tuple(map(self._written_out, self.hypotheses))

    def _written_out(self, formula: Formula) -> Formula:
        whole: Term = formula
        for name, meaning in reversed(self.defined.items()):
            whole = replaced(whole, {name: meaning})
        assert isinstance(whole, Formula)
        return whole

    @cached_property
    def given_texts(self) -> tuple[str, ...]:
        """The hypotheses as text, one by one: what a certificate carries."""
        return tuple(map(text, self.expanded_hypotheses))

    @property
    def claim_text(self) -> str:
        """The conclusion as text, letters written out: what a certificate carries."""
        return text(self.expanded)

    @property
    def hypotheses_in_words(self) -> str:
        """The hypotheses in words where they have some, what nothing was said of included: no layer is printed here."""
        return ", ".join(filter(None, map(self._in_words, (*self.hypotheses, *self.unsaid))))

    @property
    def premises_in_words(self) -> str:
        """What the arrays are, and the hypotheses in words."""
        arrays = (f"{name}: {said}" for name, said in declared_in_words(self.arrays))
        return "; ".join(filter(None, (*arrays, self.hypotheses_in_words)))

    def _in_words(self, part: Formula) -> str:
        """A hypothesis in words where it has some: they are of networks, and an array of that name is a letter."""
        return text(part) if self.arrays else words(part)

    @cached_property
    def claim(self) -> str:
        """LaTeX of the whole claim: hypotheses, conclusion, and what its letters mean."""
        conclusion = latex(self.claimed)
        if self.quantifier == "some":
            conclusion = r"\text{for some of these, }" + conclusion
        for name, meaning in self.defined.items():
            conclusion += rf",\quad {latex_letter(name)}={latex(meaning)}"
        premises = r",\ ".join(
            filter(None, (_latex_hypothesis(part, self._in_words(part)) for part in self.hypotheses))
        )
        return rf"{premises}\implies {conclusion}" if premises else conclusion

    @cached_property
    def premises(self) -> tuple[str, ...]:
        """What the data are and the hypotheses, one by one: words, or mathematics between dollar signs."""
        data = printed_data(self.arrays, [text(part) for part in self.hypotheses])
        shown = ((part, self._in_words(part)) for part in self.hypotheses)
        given = (said if said != text(part) else f"${latex(part)}$" for part, said in shown if said)
        return (*(f"${part}$" for part in data), *given)

    @cached_property
    def conclusion(self) -> tuple[str, ...]:
        """LaTeX of the conclusion, relation by relation."""
        parts = self.claimed.formulas if isinstance(self.claimed, Both) else (self.claimed,)
        some = r"\text{for some of these, }" if self.quantifier == "some" else ""
        return tuple(some + latex(part) for part in parts)

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """LaTeX of what the letters of its own stand for."""
        return tuple(f"{latex_letter(name)}={latex(meaning)}" for name, meaning in self.defined.items())

    @cached_property
    def meanings(self) -> tuple[tuple[str, str], ...]:
        """Every quantity in it: how it is printed, and what it is in words."""
        found: dict[str, tuple[str, str]] = {}
        for part in (self.formula, *self.hypotheses, *self.where.values()):
            for term in walk(part) if isinstance(part, Term) else ():
                entry = FUNCTIONS.get(term.function) if isinstance(term, Call) else None
                wanted = entry is not None and (
                    entry.value == "number" or part is self.formula or entry.definition != ""
                )
                if entry is not None and entry.evaluate is not None and wanted:
                    assert isinstance(term, Call)
                    word, meaning = at_its_word(term, entry.meaning)
                    found.setdefault(f"{entry.name} {word}", (entry.definition or latex(term), meaning))
                for name, shown, said in conventions(entry.text) if entry is not None and entry.text else ():
                    found.setdefault(name, (shown, said))
                index = term.index if isinstance(term, Every) else _reduced(term)
                for name, shown, said in explained(term):
                    if name not in self.arrays:
                        found.setdefault(name, (shown, said))
                if isinstance(term, Call) and term.function in ("expc", "tanhc"):
                    found.setdefault(term.function, (latex(term), "read as 1 where the denominator is 0"))
                if index in INDICES:
                    found.setdefault(index, (index, f"counts from 0 to {INDICES[index]} − 1"))
        # What notation says comes last.
        return tuple(sorted(said_once(found).values(), key=lambda line: line[1] in NOTATION))

    @property
    def quantities(self) -> dict[str, str]:
        """The quantities in it as they are typed, and what they are in words."""
        calls = (term for part in (self.claimed, *self.hypotheses) for term in walk(part) if isinstance(term, Call))
        found: dict[str, str] = {}  # by meaning: the first of several norms or tokens stands for all
        for term in calls:
            if FUNCTIONS[term.function].evaluate is not None:
                found.setdefault(at_its_word(term, FUNCTIONS[term.function].meaning)[1], text(term))
        return {shown: meaning for meaning, shown in found.items()}

    def __str__(self) -> str:
        some = "some instance has " if self.quantifier == "some" else ""
        lines = [f"{self.key} ({self.status}): {some}{text(self.claimed)}"]
        if self.where:
            lines.append("  where: " + ", ".join(f"{name} = {text(meaning)}" for name, meaning in self.defined.items()))
        if self.hypotheses:
            lines.append(f"  given: {self.hypotheses_in_words}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)

    def _repr_latex_(self) -> str:
        return f"${self.claim}$"

    # -- what it is evaluated to ---------------------------------------------------------------------------

    def run(self, A: System, instance: Instance) -> Subject:
        """The instance carried through one arithmetic."""
        if isinstance(instance, NetworkInstance):
            return Run(A, instance.net, instance.X)
        assert isinstance(instance, ArrayInstance)
        return ArrayRun(A, instance)

    def evaluate(self, A: System, instance: Instance) -> Evaluation:
        """Hypotheses and conclusion on an instance, or on a batch in float64."""
        return self.on(self.run(A, instance))

    def on(self, subject: Subject) -> Evaluation:
        """Hypotheses and conclusion on an instance that has been carried through an arithmetic."""
        meant: list[Formula] = []
        if isinstance(subject, Run) and not subject.net.is_one_line:
            if any(sum(part.attention is not None for part in layer) > 1 for layer in subject.net.sublayers):
                raise InvalidArgument("net: a layer attends twice; claims speak of one attention in a layer")
            meant = [*self.unsaid]
        hypotheses: list[Side] = []
        # Where a hypothesis certainly fails, those after it and the conclusion may have no meaning.
        for part in (*meant, *self.expanded_hypotheses):
            hypotheses += sides(part, subject)
            if any(map(_certainly_fails, hypotheses)):
                return Evaluation((), hypotheses)
        return Evaluation(list(sides(self.expanded, subject)), hypotheses)

    def bound(self, part: int = 0) -> Bound:
        """The right side of inequality number `part` of the conclusion in sympy.

        >>> Statement("mine:x", "mu(X[L]) <= 2**L*mu(X[0])").bound().expression
        2**L*mu
        """
        from rankmath.formula.symbolic.from_formula import bound_of

        return bound_of(self, part)

    def bounds(self) -> tuple[Bound, ...]:
        """The bounds of all inequalities of the conclusion."""
        from rankmath.formula.symbolic.from_formula import bounds_of

        return bounds_of(self)

    @property
    def functions(self) -> frozenset[str]:
        """The functions of the language it uses."""
        whole = both(self.expanded, *self.expanded_hypotheses)
        return frozenset(term.function for term in walk(whole) if isinstance(term, Call))


def explained(term: Term) -> list[tuple[str, str, str]]:
    """Letters and arrays that are not common: what is typed, what is printed, and what it is."""
    if isinstance(term, Item) and term.array == "P0":
        return [("P0", latex(term), _AT_CONSENSUS)]
    names = ("K", "r") if _reduced(term) == "k" else (term.name,) if isinstance(term, Letter) else ()
    return [(name, latex_letter(name), LETTERS[name]) for name in names if name in _EXPLAINED]


def _certainly_fails(side: Side) -> bool:
    """Whether a predicate is false everywhere, or a relation of exact numbers is."""
    if side.truth is not None:
        return side.truth.holds is not None and not np.any(side.truth.holds)
    if not (isinstance(side.left, Fraction) and isinstance(side.right, Fraction)):
        return False
    if side.equal:
        return side.left != side.right
    return side.left > side.right or (side.strict and side.left == side.right)


def _reduced(term: Term) -> str:
    """The index of a sum, a product, a maximum or a minimum over layers, heads, tokens or blocks; else nothing."""
    return term.function[-1] if isinstance(term, Call) and term.function[-2:-1] == "_" else ""


def _latex_hypothesis(formula: Formula, shown: str) -> str:
    if shown != text(formula):
        return rf"\text{{{formulas(shown)}}}" if shown else ""
    return latex(formula)
