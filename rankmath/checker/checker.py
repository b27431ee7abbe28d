"""The independent checker: accepts a certificate only if its exact data show its claim.

It needs the standard library alone; with what issues certificates about instances it shares the definitions, which are
text. A certificate is JSON with exact numbers, a statement's key, the claim and its hypotheses as text, and hints.
Nothing stored is believed: hypotheses and claim are evaluated from the data by the kernel, in fractions or in intervals
rounded outward, with more bits until they are decided. A registered key must carry the text of the checker's own table.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import os
import re
import stat
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rankmath.checker.derivation import check_derivation
from rankmath.checker.intervals import Rejected
from rankmath.checker.kernel import PRECISIONS, Decision, Definitions, Evaluator, decide, formula, whole
from rankmath.checker.limits import limited
from rankmath.checker.network import (
    all_meant,
    arranged,
    demand_language,
    demand_meaning,
    hypotheses,
    in_fractions,
    is_switch,
    names_centers,
    read_network,
    spelled,
)
from rankmath.checker.network_claims import NETWORK_CLAIMS
from rankmath.checker.reading import MAX_BYTES, MAX_DIGITS, demand, parse, read, short
from rankmath.checker.statements import DEFINED, STATEMENTS, Statement, defined_network
from rankmath.checker.vacuity import demand_not_empty, demand_not_known_before, demand_of_the_network, demand_substance
from rankmath.checker.words import described, escaped, number, reason

__all__ = ["MAX_BYTES", "MAX_DIGITS", "CheckResult", "Rejected", "check", "check_text", "main", "parse", "says"]

FORMAT = "rankmath-certificate/2"
# A network as any sequence of sublayers; all else is as in the format before.
FORMAT_OF_SUBLAYERS = "rankmath-certificate/3"
FORMATS = (FORMAT, FORMAT_OF_SUBLAYERS)
SECONDS = 180.0  # time budget of one check
MAX_TEXT = 2_000  # characters of the free text
MAX_GIVEN = 32  # hypotheses
ID_DIGITS = 32  # hex digits of SHA-256 kept in an id (128 bits)
#: The first words of all registered keys, so that no file of somebody's own carries the name of a paper.
SOURCES = frozenset(
    (
        *("alcalde2025", "alman2025", "barbero2024", "bhojanapalli2020", "castin2024", "chen2026", "contranorm2023"),
        *("dong2021", "dong2021v1", "folk", "geshkovski2023", "geshkovski2024", "he2023", "joudaki2023"),
        *("karagodin2024", "karagodin2025", "kim2021", "noci2022", "own", "seed", "shi2022", "unstated"),
        *("velickovic2024", "wang2022", "wu2024", "wu2025", "yudin2025", "zhai2023"),
    )
)
_RENAMED = {"dong2021:2.2-unhedged": "unstated:large-logits", "dong2021:ln-sphere": "unstated:ln-sphere"}
BITS = ("bits", "spectral_bits")  # hints that say how many bits to begin with
MAX_BITS = 2**14
MAX_SIGNS = 12  # the dimension up to which form_norm in inf is taken over all signs
KINDS = ("holds", "violates", "exists", "derivation")
_TOLD = {
    "holds": "nothing is said of others",
    "violates": "so the claim is not true of all that meet them",
    "exists": "so the claim is true of some network that meets them",
}
_VERBS = {"holds": "satisfies", "violates": "violates", "exists": "shows"}


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
        return [head, *(f"  {line}" for line in self.checked), f"  {'so' if self.accepted else 'but'}: {self.reason}"]

    def plain(self, name: str) -> dict[str, Any]:
        """For a machine."""
        about = {field: getattr(self, field) for field in ("accepted", "verdict", "reason", "id")}
        return {"file": name, **about, "checked": list(self.checked)}


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


def _of_sublayers(data: Any) -> bool:
    """Whether data are a network whose layers are lists of sublayers."""
    layers = data.get("layers") if type(data) is dict else None
    return type(layers) is list and any(type(layer) is list for layer in layers)


def _is_network(statement: str, fields: Iterable[str]) -> bool:
    """Whether a certificate of a registered key is about a network; its data are then those of a network."""
    return statement in NETWORK_CLAIMS and (statement not in STATEMENTS or "layers" in set(fields))


def says(statement: str) -> str:
    """What a registered key says, in a sentence; empty for a key that is not in the table."""
    if statement in NETWORK_CLAIMS:
        return NETWORK_CLAIMS[statement][0]
    return STATEMENTS[statement].says if statement in STATEMENTS else ""


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
        with limited(seconds):
            demand(len(text) <= MAX_BYTES, f"more than {MAX_BYTES} bytes")
            try:
                content = parse(text.decode("utf-8") if isinstance(text, bytes) else text)
            except UnicodeDecodeError:
                raise Rejected("not UTF-8") from None
            demand(type(content) is dict, "a certificate is a JSON object")
            demand("format" in content, "certificate.format is missing")
            demand(
                content["format"] in FORMATS,
                f"format: {short(content['format'])} is none of {', '.join(FORMATS)}, which this checker reads",
            )
            of_sublayers = content["format"] == FORMAT_OF_SUBLAYERS
            demand(of_sublayers == _of_sublayers(content.get("data")), "format: it is not that of these data")
            found = content_id(content)
            demand(content.get("id", found) == found, f"the stored id is not the hash of the content, which is {found}")
            verdict, why = _decided(_fields(content), words, deadline)
    except Rejected as rejected:
        return CheckResult(False, str(rejected), tuple(words), found or None)
    except RecursionError:
        return CheckResult(False, "it is nested too deep, or has a power that is too high", tuple(words), found or None)
    except MemoryError:
        return CheckResult(False, "it needs more memory than is allowed", tuple(words), found or None)
    except Exception as error:  # a bug of ours is no acceptance, and the batch goes on
        return CheckResult(False, f"the checker itself failed: {type(error).__name__}", tuple(words), found or None)
    if verdict == "accept":
        what = "else" if any(word.startswith("not computed here") for word in words) else "of it"
        return CheckResult(True, f"all {what} was worked out again and found true", tuple(words), found, "accepted")
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
    # Older certificates name the switch after the vector W_K b_Q in their data, and two claims after a paper.
    given = [re.sub(r"^key_bias(?= ==)", "query_bias", text) for text in given]
    return {**content, "statement": _RENAMED.get(statement, statement), "given": given}


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
        demand(
            SOURCES.isdisjoint(re.findall(r"[a-z0-9]+", key.lower())[:1]),
            f"statement: {short(key)} is not in this checker's table, and a name of one's own begins with another word",
        )
    else:
        own = key in STATEMENTS and not _is_network(key, fields)
        stored, known = ([claim, *given] for claim, given in ((content["claim"], content["given"]), registered))
        same = len(stored) == len(known) and all(_same(a, b) for a, b in zip(stored, known, strict=True))
        demand(same, f"claim, given: not those of {key} in this checker's table")
    if kind == "derivation":
        demand(not own, f"kind: {short(kind)} is for claims about networks")
        demand_language(in_fractions(content["claim"]), [in_fractions(text) for text in content["given"]], deadline)
        whole_given = [*content["given"], *all_meant(content["claim"], content["given"])]
        return check_derivation({**content, "given": whole_given}, words, deadline)
    if registered is not None and own:
        return _own_statement(key, STATEMENTS[key], content, words, deadline)
    # Claims of the table are about all networks.
    kinds = ("holds", "violates") if registered is not None else ("holds", "violates", "exists")
    demand(kind in kinds, f"kind: {short(kind)} is none of {', '.join(kinds)}, derivation")
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
    data, hints = arranged(fields["data"], sizes), fields["hints"]
    numbers = {f"`{name}`": number(x) for name, x in data.items() if isinstance(x, Fraction)}
    says = re.sub(r"`\w+`", lambda name: numbers.get(name[0], name[0]), statement.says)
    words.append(f"claim: this instance {_VERBS['exists' if statement.denies else kind]} {key}: {says}")
    words.extend(f"not computed here, relied on: {what}" for what in statement.relies)
    extra = [conditions for name, (_, conditions) in statement.extra.items() if name in fields["data"]]
    for name in ("S", "form", "direction"):
        wanted = {"S": "attracting"}.get(name, "unstable")
        demand(wanted not in fields["data"] or name in hints, f"hints.{name} is needed for data.{wanted}")
    conditions = (*statement.given, *statement.telling, *statement.method, *(c for texts in extra for c in texts))
    if "equilibria" in data:
        return _members(statement, content["claim"], DEFINED[key], data, hints, words, deadline)
    work = Evaluator(DEFINED[key], data, hints, _bits(hints), deadline)
    texts = (*conditions, content["claim"])
    formulas = [formula(text) for text in texts]
    outcome = decide(formulas, kind, work)
    words.extend(described(outcome, texts, formulas, statement.given))
    _show(outcome, statement, data, words)
    return outcome.verdict, reason(outcome, texts, kind, statement.telling)


def _show(outcome: Decision, statement: Statement, data: Mapping[str, Any], words: list[str]) -> None:
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
        texts = (*statement.given, *statement.telling, *statement.method, claim)
        work = Evaluator(defined, everything, guide, _bits(guide), deadline)
        outcome = decide([formula(text) for text in texts], "exists", work)
        _show(outcome, statement, everything, words)
        if outcome.verdict != "accept":
            return outcome.verdict, reason(outcome, texts, "exists", statement.telling)
    return "accept", ""


# -- claims about networks -----------------------------------------------------------------------------------


def _network_claim(key: str, content: dict[str, Any], words: list[str], deadline: float) -> tuple[str, str]:
    data, hints = read_network(content["data"], content["hints"], deadline)
    claim, given = in_fractions(content["claim"]), [in_fractions(text) for text in content["given"]]
    kind = content["kind"]
    known = NETWORK_CLAIMS.get(key)
    demand_language(claim, given, deadline)
    says = f": {known[0]}" if known else ", as this file words it"
    words.append(f"claim: this instance {_VERBS[kind]} {key}{says}: {content['claim']}")
    words.append(f"hypotheses: {'; '.join([*content['given'], *all_meant(claim, given)])}")
    words.append(
        f"{data['n']} tokens of dimension {data['d']}, {data['L']} layer(s), {data['H']} head(s)"
        f"{''.join(f', {name} = {number(data[name])}' for name in ('d_qk', 'skip') if name in data)}"
        f", mask {data.get('mask', 'by layer')}, LayerNorm {data['layernorm']}"
        f"{' before' if data['norm_at'] == 'before' else ''}"
        f"{', MLP' if any(word != 'none' for word in data['mlp']) else ''}"
        f"{''.join(f', {name}' for name in ('positions', 'softcap', 'qk_norm') if 'none' not in data[name])}"
    )
    centered = any(names_centers(text) for text in (claim, *given) if not is_switch(text))
    demand(
        not centered or "centers" in data,
        "data.centers: what stands about composite centers needs them, one for each layer",
    )
    if data["d"] > MAX_SIGNS and any("form_norm" in text for text in (claim, *given)):
        words.append(f"form_norm in inf is here (d > {MAX_SIGNS}) the sum of |W_ij|, which may be larger")
    if kind != "exists":  # what exists may be trivial
        demand_substance(data, kind, deadline, own=known is None)
    texts = (*hypotheses(claim, given, data), claim)
    work = Evaluator(defined_network(), data, hints, PRECISIONS[0], deadline)
    formulas = [spelled(text, int(data["L"])) for text in texts]
    outcome = decide(formulas, kind, work)
    words.extend(described(outcome, texts, formulas, given))
    if outcome.verdict == "accept" and kind == "violates":
        demand_meaning(claim, work)
        demand_of_the_network(claim)
    if outcome.verdict == "accept" and kind == "holds":
        demand_not_empty(claim, outcome.work)
    if outcome.verdict == "accept" and known is None and kind == "holds":
        demand_not_known_before(texts, outcome.work)
    if outcome.verdict == "accept" and centered:
        words.append("composite centers are those of the data; each in use is least up to 1 + 2^-30")
    if outcome.verdict == "accept":
        radius = any(re.search(r"\b(r|K|contraction|[a-z]+_k)\b", text) for text in (claim, *given))
        if radius and not work.truth(formula("quasi_strongly_connected()")):
            words.append("no token reaches all others under this mask: r is taken as 1")
        told = _TOLD[kind]
        if centered and kind == "violates":
            told = "so the claim, read of such centers, is not true of all that meet them"
        words.append(f"this network meets the hypotheses; {told}")
    return outcome.verdict, reason(outcome, texts, kind)


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
    """``checker FILE...`` or ``checker --json FILE...``; 2 if no file is given, or an option that there is not."""
    as_json, paths = "--json" in arguments[:1], list(arguments)
    if as_json:
        paths = paths[1:]
    option = paths[0] if paths and paths[0].startswith("-") else None
    if option == "--":
        paths, option = paths[1:], None
    if not paths or option is not None:
        print("usage: checker [--json] [--] FILE...")
        return 0 if option in ("-h", "--help") else 2
    try:
        code = run(paths, as_json=as_json)
        print(end="", flush=True)  # here, and not at the end of Python, where nobody would catch what it raises
        return code
    except BrokenPipeError:  # nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
