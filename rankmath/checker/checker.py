"""The independent checker: accepts a certificate only if its exact data show its claim.

It needs the standard library alone and shares no code with what issues certificates. A certificate is JSON with
exact numbers, a statement's key, the claim and its hypotheses as text, and hints. Nothing stored is believed:
hypotheses and claim are evaluated from the data by the kernel, in fractions or in intervals rounded outward, with
more bits until they are decided. A registered key must carry the text of the checker's own table.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import io
import json
import operator
import os
import re
import stat
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rankmath.checker.intervals import Rejected, Undecided
from rankmath.checker.kernel import PRECISIONS, Definitions, Evaluator, Outcome, decide, formula, whole
from rankmath.checker.network_claims import NETWORK_CLAIMS
from rankmath.checker.reading import MAX_BYTES, MAX_DIGITS, demand, parse, read, short
from rankmath.checker.statements import (
    CLAIM_ARRAYS,
    CLAIM_LOOPS,
    CLAIM_NUMBERS,
    CLAIM_TAKES,
    CLAIM_TRUTHS,
    CLAIM_WORDS,
    DEFINED,
    DEFINED_NETWORK,
    NETWORK_DATA,
    NETWORK_HINTS,
    STATEMENTS,
    Statement,
)
from rankmath.checker.words import described, escaped, number, reason

__all__ = [
    "FORMAT",
    "MAX_BYTES",
    "MAX_DIGITS",
    "CheckResult",
    "Rejected",
    "check",
    "check_text",
    "main",
    "parse",
    "says",
    "wording",
]

FORMAT = "rankmath-certificate/2"
SECONDS = 180.0  # time budget of one check
MAX_TEXT = 2_000  # characters of the free text
MAX_GIVEN = 32  # hypotheses
ID_DIGITS = 32  # hex digits of SHA-256 kept in an id (128 bits)
BITS = ("bits", "spectral_bits")  # hints that say how many bits to begin with
MAX_BITS = 2**14
MAX_SIGNS = 12  # the dimension up to which form_norm in inf is taken over all signs
KINDS = ("holds", "violates", "exists")
SWITCHES = {
    "mask": ("none", "complete", "causal", "padding", "any"),
    "layernorm": ("none", "sphere", "column"),
    "mlp": ("none", "any"),
    "bias": ("none", "any"),
    "key_bias": ("none", "any"),
}
_ALIASES = {"tokens": "n", "dim": "d", "heads": "H", "layers": "L"}


@dataclass(frozen=True, repr=False)
class CheckResult:
    """Whether a certificate shows its claim, why or why not, what was checked in words, and its id."""

    accepted: bool
    reason: str
    checked: tuple[str, ...]
    id: str | None
    verdict: str = "rejected"  # accepted, rejected or undecided

    def __bool__(self) -> bool:
        return self.accepted

    def __repr__(self) -> str:
        """Ten lines at most, none of them long: `checked` has all."""
        lines = self.lines("certificate")
        shown = lines if len(lines) <= 10 else [*lines[:8], f"  … {len(lines) - 9} more in `checked`", lines[-1]]
        return "\n".join(line if len(line) <= 160 else f"{line[:159]}…" for line in shown)

    def lines(self, name: str) -> list[str]:
        """What is printed for a file."""
        head = f"{escaped(name)}: {'accepted' if self.accepted else self.verdict.upper()} {self.id or ''}".rstrip()
        return [
            head,
            *(f"  {line}" for line in self.checked),
            f"  {'so' if self.accepted else 'but'}: {self.reason}",
        ]

    def plain(self, name: str) -> dict[str, Any]:
        """For a machine."""
        return {
            "file": name,
            "accepted": self.accepted,
            "verdict": self.verdict,
            "reason": self.reason,
            "id": self.id,
            "checked": list(self.checked),
        }


def wording(statement: str, data: Iterable[str] = ()) -> tuple[str, tuple[str, ...]] | None:
    """The claim and the hypotheses of a registered key, as text; `data` names the fields a certificate has.

    A key may be about networks and have certificates of a closed form as well: the fields tell them apart.

    >>> wording("dong2021:norm")
    ('norm(A + B, composite) <= norm(A, composite) + norm(B, composite)', ())
    """
    fields = set(data)
    if _is_network(statement, fields):
        return NETWORK_CLAIMS[statement][1:]
    if statement not in STATEMENTS:
        return None
    entry = STATEMENTS[statement]
    extras = [text for name, (text, _) in entry.extra.items() if name in fields]
    return " and ".join([entry.claim, *extras]), entry.given


def _is_network(statement: str, fields: Iterable[str]) -> bool:
    """Whether a certificate of a registered key is about a network; its data are then those of a network."""
    return statement in NETWORK_CLAIMS and (statement not in STATEMENTS or {"d_qk", "layers"} <= set(fields))


def says(statement: str) -> str:
    """What a registered key says, in a sentence; empty for a key that is not in the table."""
    if statement in NETWORK_CLAIMS:
        return NETWORK_CLAIMS[statement][0]
    return STATEMENTS[statement].says if statement in STATEMENTS else ""


def exact_number(value: int | str) -> Fraction:
    """The number that the notation of a certificate stands for: an integer, "p/q" or "m*2^e"."""
    found: Fraction = read(value, "number", "value", {})
    return found


def content_id(content: dict[str, Any]) -> str:
    """rm- and the first hex digits of the SHA-256 of the canonical JSON of everything but the id."""
    rest = {name: value for name, value in content.items() if name != "id"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return "rm-" + hashlib.sha256(text.encode("ascii")).hexdigest()[:ID_DIGITS]


def check(path: str | os.PathLike[str], *, seconds: float = SECONDS) -> CheckResult:
    """Check the certificate in a file; a file that cannot be read is rejected.

    Parameters
    ----------
    path : a regular file of at most 4 MB.
    seconds : time budget; a check that needs longer is a rejection.
    """
    deadline = time.monotonic() + seconds
    try:
        demand(isinstance(path, (str, os.PathLike)), "a path is needed")
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
        with open(handle, "rb") as file:
            demand(stat.S_ISREG(os.fstat(handle).st_mode), "not a regular file")
            text = file.read(MAX_BYTES + 1)
    except (Rejected, OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return CheckResult(False, f"cannot be read: {reason}", (), None)
    except MemoryError:
        return CheckResult(False, "cannot be read: it needs more memory than there is", (), None)
    return check_text(text, seconds=deadline - time.monotonic())


def check_text(text: str | bytes, *, seconds: float = SECONDS) -> CheckResult:
    """Check the certificate in a string.

    >>> (claim, given), data = wording("dong2021:norm"), {"A": [[1, 1], [0, 0]], "B": [[1, 0], [1, 0]]}
    >>> named = {"format": FORMAT, "statement": "dong2021:norm", "claim": claim, "given": given}
    >>> result = check_text(json.dumps({**named, "kind": "violates", "data": data, "hints": {}}))
    >>> result.accepted
    True
    >>> print(result.checked[-1].partition(": ")[2].partition(": ")[2])
    3 against [2.82842, 2.82843], so it fails (in intervals of 128 bits)
    """
    words: list[str] = []
    deadline, found = time.monotonic() + seconds, ""
    try:
        demand(len(text) <= MAX_BYTES, f"more than {MAX_BYTES} bytes")
        try:
            content = parse(text.decode("utf-8") if isinstance(text, bytes) else text)
        except UnicodeDecodeError:
            raise Rejected("not UTF-8") from None
        demand(type(content) is dict, "a certificate is a JSON object")
        demand(
            content.get("format") == FORMAT,
            f"format: {short(content.get('format'))} is not {FORMAT!r}, which this checker reads",
        )
        found = content_id(content)
        demand(content.get("id", found) == found, f"the stored id is not the hash of the content, which is {found}")
        verdict, why = _decided(_fields(content), words, deadline)
    except Rejected as rejected:
        return CheckResult(False, str(rejected), tuple(words), found or None)
    except RecursionError:
        return CheckResult(False, "it is nested too deep", tuple(words), found or None)
    except MemoryError:
        return CheckResult(False, "it needs more memory than there is", tuple(words), found or None)
    except Exception as error:  # a bug of ours is no acceptance, and the batch goes on
        return CheckResult(False, f"the checker itself failed: {type(error).__name__}", tuple(words), found or None)
    if verdict == "accept":
        return CheckResult(True, "all of it was worked out again and found true", tuple(words), found, "accepted")
    return CheckResult(False, why, tuple(words), found, {"reject": "rejected"}.get(verdict, verdict))


def _fields(content: dict[str, Any]) -> dict[str, Any]:
    """The fields of a certificate but its data and hints, each of its type."""
    needed = {"format", "statement", "claim", "given", "kind", "data", "hints"}
    for name in needed - set(content):
        raise Rejected(f"certificate.{name} is missing")
    for name in set(content) - needed - {"id", "about"}:
        raise Rejected(f"certificate has a field {short(name)} that is not known")
    about, given, statement = content.get("about", ""), content["given"], content["statement"]
    demand(type(about) is str and len(about) <= MAX_TEXT, f"about: a text up to {MAX_TEXT} characters is needed")
    demand(
        type(statement) is str and re.fullmatch(r"[\w.:+-]{1,80}", statement, re.ASCII) is not None,
        "statement: a key is needed",
    )
    demand(_is_text(content["claim"]), "claim: a formula is needed, in one line of ASCII without remarks")
    texts = type(given) is list and len(given) <= MAX_GIVEN and all(map(_is_text, given))
    demand(texts, f"given: a list of at most {MAX_GIVEN} formulas is needed, each in one line without remarks")
    return content


def _is_text(text: Any) -> bool:
    """What is printed as the claim is what is read: no line ends, no control characters, nothing after a #."""
    return type(text) is str and text.isascii() and text.isprintable() and "#" not in text


def _decided(content: dict[str, Any], words: list[str], deadline: float) -> tuple[str, str]:
    """The verdict, and why it is not to accept."""
    key, kind = content["statement"], content["kind"]
    fields = content["data"] if type(content["data"]) is dict else {}
    registered = wording(key, fields)
    own = False
    if registered is None:
        sources = {name.split(":")[0] for name in (*STATEMENTS, *NETWORK_CLAIMS)}
        demand(
            sources.isdisjoint(re.findall(r"[a-z0-9]+", key.lower())[:1]),
            f"statement: {short(key)} is not in this checker's table",
        )
    else:
        own = key in STATEMENTS and not _is_network(key, fields)
        stored, known = ([claim, *given] for claim, given in ((content["claim"], content["given"]), registered))
        same = len(stored) == len(known) and all(_same(a, b) for a, b in zip(stored, known, strict=True))
        demand(same, f"claim, given: not those of {key} in this checker's table")
    if registered is not None and own:
        return _own_statement(key, STATEMENTS[key], content, words, deadline)
    demand(kind in ("holds", "violates"), f"kind: {short(kind)} is none of holds, violates")
    return _network_claim(key, content, words, deadline)


def _same(a: str, b: str) -> bool:
    """Whether two formulas are the same term, however they are spaced."""
    return a == b or ast.dump(formula(a)) == ast.dump(formula(b))


def _bits(hints: Mapping[str, Any]) -> int:
    """How many bits to begin with: a hint may ask for more than the first of the precisions."""
    wanted = [whole(hints[name], name) for name in BITS if name in hints]
    return min(max([PRECISIONS[0], *wanted]), MAX_BITS)


# -- statements with data of their own -----------------------------------------------------------------------


def _own_statement(
    key: str, statement: Statement, content: dict[str, Any], words: list[str], deadline: float
) -> tuple[str, str]:
    kind = content["kind"]
    demand(kind in statement.kinds, f"kind: {short(kind)} is none of {', '.join(statement.kinds)}")
    sizes: dict[str, int] = {}
    shape = {"data": statement.data, "hints": statement.hints}
    fields = read({"data": content["data"], "hints": content["hints"]}, shape, "certificate", sizes, deadline)
    data, hints = _arranged(fields["data"], sizes), fields["hints"]
    verb = {"holds": "satisfies", "violates": "violates", "exists": "shows"}[kind]
    numbers = {f"`{name}`": number(x) for name, x in data.items() if isinstance(x, Fraction)}
    says = re.sub(r"`\w+`", lambda name: numbers.get(name[0], name[0]), statement.says)
    words.append(f"claim: this instance {verb} {key}: {says}")
    words.extend(f"not computed here, relied on: {what}" for what in statement.relies)
    extra = [conditions for name, (_, conditions) in statement.extra.items() if name in fields["data"]]
    for name in ("S", "form", "direction"):
        wanted = {"S": "attracting"}.get(name, "unstable")
        demand(wanted not in fields["data"] or name in hints, f"hints.{name} is needed for data.{wanted}")
    conditions = (*statement.given, *statement.telling, *statement.method, *(c for texts in extra for c in texts))
    if "equilibria" in data:
        return _members(statement, content["claim"], DEFINED[key], data, hints, words, deadline)
    work = Evaluator(DEFINED[key], data, hints, _bits(hints), deadline)
    outcome = decide(conditions, content["claim"], kind, work)
    words.extend(described(outcome, conditions, content["claim"], statement.given))
    _show(outcome, statement, data, words)
    return outcome.verdict, reason(outcome, (*conditions, content["claim"]), kind)


def _show(outcome: Outcome, statement: Statement, data: Mapping[str, Any], words: list[str]) -> None:
    if outcome.verdict == "accept":
        numbers = {name: number(value) for name, value in data.items() if isinstance(value, (Fraction, str))}
        words.extend(sentence.format(**numbers) for name, sentence in statement.shows.items() if name in data)


def _members(
    statement: Statement,
    claim: str,
    defined: Definitions,
    data: dict[str, Any],
    hints: Any,
    words: list[str],
    deadline: float,
) -> tuple[str, str]:
    """A list of equilibria of one layer: each is checked by itself."""
    members, guides = data.pop("equilibria"), hints["equilibria"]
    demand(len(guides) == len(members), "hints.equilibria: one for each equilibrium is needed")
    ranks = [member["rank"] for member in members]
    for member, guide in zip(members, guides, strict=True):
        everything = {**data, **member, "ranks": ranks}
        conditions = (*statement.given, *statement.method)
        work = Evaluator(defined, everything, guide, _bits(guide), deadline)
        outcome = decide(conditions, claim, "exists", work)
        _show(outcome, statement, everything, words)
        if outcome.verdict != "accept":
            return outcome.verdict, reason(outcome, (*conditions, claim), "exists")
    return "accept", ""


def _arranged(data: dict[str, Any], sizes: dict[str, int]) -> dict[str, Any]:
    """Data as the definitions name them: lengths as numbers, layers as arrays, what may be missing filled in."""
    result = {
        **data,
        **{letter: Fraction(size) for letter, size in sizes.items() if len(letter) == 1 and letter != "N"},
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


def _network_claim(key: str, content: dict[str, Any], words: list[str], deadline: float) -> tuple[str, str]:
    sizes: dict[str, int] = {}
    hints = {"*": NETWORK_HINTS["*"]}
    names = content["hints"] if type(content["hints"]) is dict else {}
    demand(
        all(re.fullmatch(r"X\[[0-9]{1,3}\] (inf|composite)", name) for name in names),
        "hints: a name that is not known",
    )
    fields = read(
        {"data": content["data"], "hints": content["hints"]},
        {"data": NETWORK_DATA, "hints": {f"{name}?": hints["*"] for name in names}},
        "certificate",
        sizes,
        deadline,
    )
    data = _network(fields["data"], sizes)
    claim, given, kind = content["claim"], content["given"], content["kind"]
    known = NETWORK_CLAIMS.get(key)
    for text in (claim, *(text for text in given if not _is_switch(text))):
        _demand_language(text)
    verb = "satisfies" if kind == "holds" else "violates"
    words.append(
        f"claim: this instance {verb} {key}{': ' + known[0] if known else ', as this file words it'}: {claim}"
    )
    words.append(f"hypotheses: {'; '.join([*given, *_unsaid(claim, given)])}")
    words.append(
        f"{sizes['n']} tokens of dimension {sizes['d']}, {data['L']} layer(s), {data['H']} head(s), d_qk = "
        f"{number(data['d_qk'])}, "
        f"skip = {number(data['skip'])}, mask {data['mask']}, LayerNorm {data['layernorm']}"
        f"{', MLP' if any(word != 'none' for word in data['mlp']) else ''}"
    )
    if any(re.search(r"\b(gamma|delta|q_max|q_min)\(.*composite|\bgamma\(", text) for text in (claim, *given)):
        words.append(
            "a composite center is the one that a hint names, or the middle of the ranges, if its residual is the "
            "least to 2^-20; of several as good, gamma, delta and q are those at this one"
        )
    if sizes["d"] > MAX_SIGNS and any("form_norm" in text for text in (claim, *given)):
        words.append(f"form_norm in inf is here (d > {MAX_SIGNS}) the sum of |W_ij|, which may be larger")
    conditions = _hypotheses(claim, given, data)
    spoken = any(isinstance(node, ast.Subscript) for node in ast.walk(formula(claim)))
    demand(spoken, "claim: it says nothing of the network")
    demand(sizes["n"] >= 2, "data.X: one token alone; two are needed")
    first, *others = data["input"]
    equal = _parallel if data["layernorm"] == "sphere" else operator.eq
    demand(not all(equal(first, row) for row in others), "data.X: all tokens are equal: the instance says nothing")
    carried = any(x for heads in data["W"] for W in heads for row in W for x in row)
    demand(carried, "data.layers: every W is 0: attention carries nothing")
    work = Evaluator(DEFINED_NETWORK, data, network_hints(fields["hints"], len(data["W"])), PRECISIONS[0], deadline)
    outcome = decide(conditions, claim, kind, work)
    words.extend(described(outcome, conditions, claim, given))
    if outcome.verdict == "accept" and kind == "violates":
        _demand_meaning(claim, work)
    if outcome.verdict == "accept":
        radius = any(re.search(r"\b(r|K|contraction|[a-z]+_k)\b", text) for text in (claim, *given))
        if radius and not work.truth(formula("quasi_strongly_connected()")):
            words.append("no token reaches all others under this mask: r is taken as 1")
        told = "nothing is said of others" if kind == "holds" else "so the claim is not true of all that meet them"
        words.append(f"this network meets the hypotheses; {told}")
    return outcome.verdict, reason(outcome, (*conditions, claim), kind)


def _demand_meaning(claim: str, work: Evaluator) -> None:
    """Of a claim that fails at one relation all others must have a meaning, too: both sides of each are numbers."""

    def sides(node: ast.expr) -> list[ast.expr]:
        if isinstance(node, ast.BoolOp):
            return [side for part in node.values for side in sides(part)]
        if isinstance(node, ast.Compare):
            return [node.left, *node.comparators]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CLAIM_LOOPS:
            total = ast.Name(f"sum_{CLAIM_LOOPS[node.func.id][1]}")
            return [ast.Call(total, [side], []) for side in sides(node.args[0])]
        return []

    for side in sides(formula(claim)):
        with contextlib.suppress(Undecided):
            work.value(side, {})


def _parallel(u: list[Fraction], v: list[Fraction]) -> bool:
    """Whether two tokens are one on the sphere: v = c u for a c > 0. (Sums of long fractions would take long.)"""
    c = next((y / x for x, y in zip(u, v, strict=True) if x), Fraction(0))
    return c > 0 and all(c * x == y for x, y in zip(u, v, strict=True))


def network_hints(hints: Mapping[str, Any], layers: int) -> dict[str, Any]:
    """For each norm and layer what the certificate suggests: a center or none, and lines of weights."""

    def of(hint: Mapping[str, Any]) -> list[Any]:
        return [hint.get("center", []), [[line["columns"], line["rows"]] for line in hint.get("lines", [])]]

    names = ("inf", "composite")
    return {f"hints_{norm}": [of(hints.get(f"X[{l}] {norm}", {})) for l in range(layers + 1)] for norm in names}


def _demand_language(text: str) -> None:
    """A formula of the language of claims: relations of numbers joined by `and`; arrays and words are arguments."""
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
        steps = zip(arguments[1:], (letters, {*letters, _text(arguments[0]), "l"}), strict=True)
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


def _network(data: dict[str, Any], sizes: dict[str, int]) -> dict[str, Any]:
    n, d = sizes["n"], sizes["d"]
    result = {**data, **_layers(data["layers"]), "n": Fraction(n), "d": Fraction(d), "input": data["X"]}
    del result["X"], result["layers"]
    demand(data["d_qk"] > 0, "data.d_qk: a positive number is needed")
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


def _hypotheses(claim: str, given: list[str], data: Mapping[str, Any]) -> list[str]:
    """The hypotheses that are formulas; switches are looked up, and those not mentioned stand at their default."""
    conditions = []
    for text in given:
        if _is_switch(text):
            name, word = (part.strip() for part in text.split("=="))
            demand(word in SWITCHES[name], f"given: {name} is none of {', '.join(SWITCHES[name])}")
            demand(_switched(name, word, data), f"a hypothesis fails: {text}")
        else:
            conditions.append(text)
    for text in _unsaid(claim, given):
        name = text.split()[0]
        met = data["skip"] == 0 if name == "skip" else _switched(name, "none", data)
        demand(met, f"data: the hypotheses allow no {name}; {text} where nothing is said")
    return conditions


def _unsaid(claim: str, given: list[str]) -> list[str]:
    """What holds where nothing is said: no mask, no LayerNorm, no MLP; no skip, if no formula speaks of it."""
    said = {text.split("==")[0].strip() for text in given if _is_switch(text)}
    named = any(re.search(r"\bskip\b", text) for text in (claim, *given))
    unsaid = [f"{name} == none" for name in ("mask", "layernorm", "mlp") if name not in said]
    return unsaid if named else [*unsaid, "skip == 0"]


def _is_switch(text: str) -> bool:
    found = re.fullmatch(r"\s*(\w+)\s*==\s*(\w+)\s*", text)
    return found is not None and found[1] in SWITCHES


def _switched(name: str, word: str, data: Mapping[str, Any]) -> bool:
    if word == "any":
        return True
    if name == "mlp":
        return all(map(word.__eq__, data["mlp"]))
    if name in ("bias", "key_bias"):
        flat = data["bias"] if name == "bias" else [row for layer in data["key_bias"] for row in layer]
        return not any(x for row in flat for x in row)
    if name == "layernorm":
        return bool(data["layernorm"] == word)
    edges = data["edges"]
    if word == "padding":
        return all(row == edges[0] for row in edges)
    return bool(data["mask"] == ("complete" if word == "none" else word))


# -- the command ---------------------------------------------------------------------------------------------


def run(paths: Iterable[str], *, as_json: bool = False, say: Callable[[str], None] = print) -> int:
    """Check each file, say at once what was found; 0 if all are accepted, 1 if not."""
    everything, rows = True, []
    if isinstance(sys.stdout, io.TextIOWrapper):  # letters that it has not are escaped
        sys.stdout.reconfigure(errors="backslashreplace")
    for path in paths:
        result = check(path)
        everything = everything and result.accepted
        if as_json:
            rows.append(result.plain(path))
        else:
            say("\n".join(result.lines(path)))
    if as_json:
        say(json.dumps(rows, indent=1))
    return 0 if everything else 1


def main(arguments: Sequence[str]) -> int:
    """``checker FILE...`` or ``checker --json FILE...``; 2 if no file is given."""
    as_json, paths = "--json" in arguments[:1], list(arguments)
    if as_json:
        paths = paths[1:]
    if not paths:
        print("usage: checker [--json] FILE...")
        return 2
    try:
        code = run(paths, as_json=as_json)
        print(end="", flush=True)  # here, and not at the end of Python, where nobody would catch what it raises
        return code
    except BrokenPipeError:  # nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
