"""One statement as a person reads it: what it says, what is known, and where all of that lies."""

from __future__ import annotations

import re
import shutil
import textwrap
from typing import Any

from rankmath.checker.statements import STATEMENTS
from rankmath.claims import statement, statements
from rankmath.formula.language import FUNCTIONS, LETTERS, Function
from rankmath.formula.printing import text
from rankmath.formula.terms import Call, Every, walk
from rankmath.report.sources import certificate_file, committed_certificates, label_of, machine_checked, without_theorem
from rankmath.verification.data import declared_in_words
from rankmath.verification.statement import explained

#: Columns at most; a narrower terminal has its own.
_WIDTH = 100
#: Functions that a reader may not know.
_UNUSUAL = ("expc", "tanhc", "recursion", "all_p")


def _of_certificates_alone(key: str) -> bool:
    return key in STATEMENTS and key not in statements()


def described(key: str) -> dict[str, Any]:
    """The statement as plain data: claim, hypotheses, letters, status, proof, certificates, Coq theorems; of a claim
    that only certificates make what the checker reads.

    >>> described("own:tv")["status"], described("own:tv")["proof"]
    ('proved', 'proofs/own_tv.tex, label stmt:own-tv')
    """
    if _of_certificates_alone(key):
        claimed = STATEMENTS[key]
        return {
            "key": key,
            "says": claimed.says,
            "claim": claimed.claim,
            "given": list(claimed.given),
            "define": claimed.define.strip().splitlines(),
            "data": claimed.data,
            "relies": list(claimed.relies),
            "certificates": _certificates(key),
        }
    entry = statement(key)
    key = entry.key
    label = label_of(key)
    whole = (entry.claimed, *entry.hypotheses, *entry.defined.values())
    calls = {term.function: None for part in whole for term in walk(part) if isinstance(term, Call)}
    calls |= {f"all_{term.index}": None for part in whole for term in walk(part) if isinstance(term, Every)}
    measured = [FUNCTIONS[name] for name in calls if FUNCTIONS[name].evaluate is not None or name in _UNUSUAL]
    letters = [part for formula in whole for term in walk(formula) for part in explained(term)]
    given = entry.hypotheses_in_words
    if re.search(r"\bskip\b(?! connection)", " ".join((given, *map(text, (entry.claimed, *entry.defined.values()))))):
        letters.append(("skip", "", LETTERS["skip"]))
    return {
        "key": key,
        "title": entry.title,
        "claim": text(entry.claimed),
        "quantifier": entry.quantifier,
        "where": {name: text(meaning) for name, meaning in entry.defined.items()},
        "given": given,
        "arrays": dict(declared_in_words(entry.arrays)),
        "quantities": {
            function.name: function.meaning
            + (f"; as a formula{_of(function)}: {function.text}" if function.text else "")
            for function in measured
        }
        | {name: said for name, _, said in letters if name not in entry.arrays},
        "latex": entry.claim,
        "status": entry.status,
        "sharp": entry.sharp,
        "source": entry.source,
        "notes": entry.notes,
        "proof": f"{entry.truth}, label {label}" if label else entry.truth,
        "certificates": _certificates(key),
        "coq": [f"{name}{f' ({scope})' if scope else ''}" for name, scope in machine_checked().get(key, ())],
        "without_coq": "" if machine_checked().get(key) else without_theorem(key),
        "counterexample": f"rankmath counterexample {key}" if entry.exhibit is not None or _violated(key) else "",
        "gallery": f"gallery/{key.replace(':', '-')}.html",
    }


def _violated(key: str) -> bool:
    return any(certificate.kind == "violates" for certificate in committed_certificates().get(key, ()))


def _certificates(key: str) -> list[str]:
    proved = key in statements() and statement(key).status == "proved"
    found = (
        (c, "exists" if proved and c.kind == "violates" else c.kind) for c in committed_certificates().get(key, ())
    )
    return [f"{kind}: proofs/certificates/{certificate_file(c)}" for c, kind in found]


def _of(function: Function) -> str:
    """The letters of its definition, which are not those of a claim that applies it."""
    return f" in {', '.join(parameter.name for parameter in function.parameters)}" if function.parameters else ""


def lines(key: str) -> list[str]:
    """The same in words, line by line."""
    found = described(key)
    if _of_certificates_alone(key):
        said = [f"{key}: a claim of certificates alone, in the checker's language", "", f"  {found['says']}", ""]
        said += [f"  claim: {found['claim']}", *(f"  given {line}" for line in found["given"])]
        said += ["", *(f"  {line}" for line in found["define"]), "", f"data: {', '.join(found['data'])}"]
        said += [f"relies on: {line}" for line in found["relies"]]
        said += [f"certificate that {line}" for line in found["certificates"]]
        return _wrapped([*said, "how to check one: rankmath check FILE"])
    some = "some instance has " if found["quantifier"] == "some" else ""
    sharp = ", sharp" if found["sharp"] else ""
    said = [f"{found['key']}: {found['title']} ({found['status']}{sharp})", "", f"  {some}{found['claim']}"]
    said += [f"  where {name} = {meaning}" for name, meaning in found["where"].items()]
    said += [f"  given {found['given']}"] if found["given"] else []
    said += [f"  {name}: {shape}" for name, shape in found["arrays"].items()]
    said += ["", *(f"  {name}: {meaning}" for name, meaning in found["quantities"].items()), ""]
    said += [f"source: {found['source']}"]
    said += [f"note: {found['notes']}"] if found["notes"] else []
    said += [f"{'proof' if found['status'] == 'proved' else 'shown in'}: {found['proof']}"]
    said += [f"certificate that {line}" for line in found["certificates"]]
    why = f" ({found['without_coq']})" if found["without_coq"] else ""
    said += [f"Coq theorem of the formula: {line}" for line in found["coq"]] or [f"Coq theorem: none{why}"]
    said += [f"counterexample or example: {found['counterexample']}"] if found["counterexample"] else []
    return _wrapped([*said, f"picture: page {found['gallery']} of the site"])


def _wrapped(said: list[str]) -> list[str]:
    width = max(40, min(_WIDTH, shutil.get_terminal_size((_WIDTH, 24)).columns))
    wrapper = textwrap.TextWrapper(width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return [piece for line in said for piece in wrapper.wrap(line) or [""]]
