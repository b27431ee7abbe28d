"""What becomes of each theorem about networks with today's parts: `python docs/_ext/architectures.py` writes it.

For every cell the theorem's claim, with that part allowed, is evaluated on networks that have it. A cell that says
refuted has the number of an instance; `python docs/_ext/architectures.py KEY PART` prints its certificate.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import rankmath as rm
from rankmath.certificates.certificate import Certificate
from rankmath.certificates.issue import NotIssued
from rankmath.claims.own_positions import quarter_turn
from rankmath.model.network import Network
from rankmath.model.positions import Rotary
from rankmath.model.sublayers import LayerNorm, Sublayer
from rankmath.validation import InvalidArgument
from rankmath.verification.instance import NetworkInstance
from rankmath.verification.judge import judge
from rankmath.verification.statement import Statement
from rankmath.verification.verdict import Outcome, Verdict

DOCS = Path(__file__).parent.parent
DATA, PAGE = DOCS / "architectures.json", DOCS / "architectures.md"
#: The parts: a heading, and what a claim says that allows it.
PARTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "rotary": ("rotary positions, angles proportional to the place", ("positions == any",)),
    "qk_norm": ("QK-norm", ("qk_norm == any",)),
    "softcap": ("capped logits", ("softcap == any",)),
    "gain": ("RMSNorm with a gain after each layer", ("layernorm == rms", "norm_at == after")),
    "before": ("RMSNorm before attention", ("layernorm == rms", "norm_at == before")),
}
LOGITS = ("rotary", "qk_norm", "softcap")
#: Theorems whose proofs use of the attention that its rows are averages over the mask, and its least entry.
ANY_LOGITS = {
    *("wu2024:1", "wu2024:1-doeblin", "wu2024:2", "wu2024:cor1", "wu2024:cor1-centers", "wu2024:cor1-step"),
    *("wu2024:pre-ln", "own:full-rank", "own:hemisphere", "dong2021:3.1"),
}
#: Cells that are proved otherwise: of attention alone, whatever is done to tokens besides; of logits at
#: consensus that depend on i − j; of maps that write where nothing is read.
PROVED = {("own:consensus-spectrum", part) for part in ("gain", "before")} | {
    *(("own:relative-shares", part) for part in PARTS),
    *(("own:consensus-derivative", "gain"), ("dong2021:3.1", "before"), ("own:shrinking-values", "softcap")),
}
#: What holds in the place of a claim about the diameter of tokens, by the part.
INSTEAD = {"rotary": "own:positions-diameter", "qk_norm": "own:positions-diameter", "softcap": "own:transport"}
WITH_SKIP = dict.fromkeys(LOGITS, "own:transport-skip") | {"before": "own:pre-norm-diameter"}
MEMBERS = 5
NEARLY_OPPOSITE = np.array([[2.0**66, 3.96], [-(2.0**66), 3.96]])


def keys() -> list[str]:
    """The proved theorems about all networks of a kind."""
    found = rm.statements().items()
    return [k for k, s in found if not s.arrays and s.status == "proved" and s.quantifier == "all" and s.draws]


def allowing(key: str, part: str) -> Statement:
    """The theorem's claim about networks that have the part."""
    entry, said = rm.statements()[key], PARTS[part][1]
    switches = [text.partition(" ==")[0] for text in said]
    kept = [text for text in entry.given_texts if text.partition(" ==")[0] not in switches]
    return Statement(f"mine:{key.replace(':', '-')}-{part}", entry.claim_text, given=(*kept, *said))


def is_said(key: str, part: str) -> bool:
    """Whether the theorem speaks of such networks as it is registered."""
    given = rm.statements()[key].given_texts
    return all(text in given for text in PARTS[part][1]) or (part == "rotary" and "positions == rotary" in given)


def with_part(found: NetworkInstance, part: str) -> NetworkInstance:
    n, d = found.X.shape[-2:]

    def changed(s: Sublayer) -> Sublayer:
        a = s.attention
        if a is None:
            return s
        if part == "rotary" and a.rotary is None:
            return s.with_attention(rotary=Rotary.of_frequencies(1.3 / (1 + np.arange(d // 2)), n))
        if part == "softcap":
            return s.with_attention(softcap=0.5)
        if part == "qk_norm" and a.qk_norm is None:
            key = np.broadcast_to(np.eye(d), a.query.shape) if a.key is None else a.key
            ones = np.ones(a.query.shape[-1])
            return s.with_attention(key=key, qk_norm=(ones, ones, 1e-6))
        if part == "gain":
            return replace(s, before=None, after=LayerNorm("rms", 0.0, np.linspace(2.0, 1.0, d)))
        return replace(s, before=LayerNorm("rms", 1e-6), after=None) if part == "before" else s

    layers = [[changed(s) for s in layer] for layer in found.net.sublayers]
    return NetworkInstance(Network.from_layers(layers, found.net.tokens), found.X, part)


def instances(key: str, part: str) -> Iterator[NetworkInstance]:
    """Networks with the part: those drawn for the theorem, and two near consensus, one turned by 90°."""
    rng, entry = np.random.default_rng(1), rm.statements()[key]
    for draw in entry.draws[:2]:
        found = draw(rng, MEMBERS)
        assert isinstance(found, NetworkInstance)
        for i in range(len(found)):
            one = found.select(i)
            if part != "rotary" or one.X.shape[-1] > 1:
                yield with_part(one, part)
    # Values 1, -1 and diag(1, -1) times 3/8: near consensus, opposite tokens near 0, four layers that attend to
    # themselves, and long tokens with small logits, where a cap is bent.
    after = LayerNorm("sphere") if "layernorm == sphere" in entry.given_texts else None
    bent = np.array([[0.125, 1.0], [-1.0, 0.125]])
    skip = float("skip == 0" not in entry.given_texts)
    for value, slack in ((0.375, 0.0), (-0.375, 0.0), (-0.375, -2.0)):
        near = quarter_turn(2.0**-7, value, slack, skip=skip)
        turned = near.net.sublayers[0][0]
        for layer, X, depth in (
            (turned, near.X, 1),
            (turned.with_attention(rotary=None), near.X - np.array([1.0 - 2.0**-9, 0.0]), 1),
            (turned.with_attention(rotary=None, query=8 * np.eye(2)[None]), np.array([[0.6, 0.8], [-0.6, 0.8]]), 4),
            (turned.with_attention(rotary=None, query=bent[None]), near.X + np.array([1.0, 0.0]), 1),
        ):
            if "orthogonal_values()" in entry.given_texts:
                layer = layer.with_attention(value=np.sign(layer.attention.value))
            net = Network.from_layers([[replace(layer, after=after)]] * depth, 2)
            yield with_part(NetworkInstance(net, X), part)
    # Logits that a cap bends much; opposite tokens, long and tiny; many layers of tokens that a gain keeps apart,
    # and of tokens that are nearly opposite, so long that the bound takes them for independent.
    column = LayerNorm("column") if "layernorm == column" in entry.given_texts else after
    plain = quarter_turn(value=-0.375, slack=-2.0, skip=skip).net.sublayers[0][0].with_attention(rotary=None)
    one = plain.with_attention(value=np.eye(2)[None])
    bent_much = (plain.with_attention(query=4 * bent[None]), np.array([[1.0, 2.0**-7], [1 + 2.0**-12, -(2.0**-7)]]), 1)
    opposite = (plain.with_attention(query=8 * np.eye(2)[None]), np.array([[1.0, 1.0], [-1.0, -0.5]]), 1)
    even = (bent_much[0], 0.75 + np.array([[1.0, -1.0], [-1.0, 1.0]]) / 256, 1)
    other = bent_much[0].with_attention(value=-plain.attention.value, query=np.eye(2)[None] / 8)
    tiny = (plain.with_attention(query=np.eye(2)[None] / 8), np.eye(2) / 1024, 1)
    apart = (one.with_attention(query=np.eye(2)[None] / 8), np.array([[2.75, 0.5], [-2.75, 0.5]]), 110)
    slow = (one.with_attention(query=0.388 * np.eye(2)[None]), NEARLY_OPPOSITE, 56)
    orthogonal = "orthogonal_values()" in entry.given_texts
    for layer, X, depth in (
        (apart, slow)
        if orthogonal
        else (bent_much, opposite, tiny, even, (other, np.array([[1.0, 1.0], [-1.0, 1.0]]), 1))
    ):
        net = Network.from_layers([[replace(layer, after=column)]] * depth, 2)
        yield with_part(NetworkInstance(net, X), part)


def tried(claim: Statement, found: NetworkInstance, arithmetic: Any = "float64") -> Verdict | None:
    """The verdict; None where a quantity of the claim is not defined for such networks."""
    try:
        with np.errstate(all="ignore"):
            return judge(claim, found, arithmetic)
    except (InvalidArgument, AttributeError):  # a part of the definition is the word undefined
        return None


def is_certified(claim: Statement, found: NetworkInstance, verdict: Verdict) -> bool:
    """Whether the checker decides it too."""
    try:
        return verdict.certified and claim.certified(found, verdict).check().accepted
    except NotIssued:
        return False


def cell(key: str, part: str) -> dict[str, Any]:
    """What was found: refuted with the number of an instance, not defined, or how many instances held."""
    claim, held, defined = allowing(key, part), 0, False
    for number, found in enumerate(instances(key, part)):
        verdict = tried(claim, found)
        defined |= verdict is not None
        if verdict is not None and verdict.outcome in (Outcome.VIOLATED, Outcome.UNDECIDED):
            sure = tried(claim, found, "balls")
            if sure is not None and sure.outcome == Outcome.VIOLATED and is_certified(claim, found, sure):
                return {"refuted": number}
        held += verdict is not None and verdict.outcome == Outcome.HOLDS
        if not defined and number > 2:
            break
    return {"held": held} if defined else {"undefined": True}


def shown(key: str, part: str, found: dict[str, Any]) -> str:
    """A cell in words."""
    text, given = rm.statements()[key].claim_text, rm.statements()[key].given_texts
    instead = WITH_SKIP.get(part, "")
    if "skip == 0" in given:
        same_keys = "mask == none" in given or "mask == padding" in given
        instead = INSTEAD.get(part, "") if same_keys else "own:transport" if part in LOGITS else ""
    sizes = re.match(r"(all_[pl]\()?(diameter|residual)\(X\[(L|1|l \+ 1)\]", text)
    alone = {"layernorm == none", "mlp == none"} <= {*given}
    instead = f"; `{instead}`" if instead and instead != key and sizes and alone else ""
    if is_said(key, part):
        return "verbatim: said"
    if "refuted" in found:
        return f"refuted{instead}"
    if "undefined" in found or "jacobian_norm" in text or "influence(" in text:  # of layers of attention alone
        return f"not defined{instead}"
    if (part in LOGITS and key in ANY_LOGITS) or (key, part) in PROVED:
        return "verbatim"
    return f"open{instead}"


def table(data: dict[str, dict[str, Any]]) -> str:
    lines = ["| theorem | " + " | ".join(heading for heading, _ in PARTS.values()) + " |", "|---" * 6 + "|"]
    lines += [
        f"| `{key}` | " + " | ".join(shown(key, part, row[part]) for part in PARTS) + " |" for key, row in data.items()
    ]
    return "\n".join(lines) + "\n"


def write(data: dict[str, dict[str, Any]]) -> None:
    DATA.write_text(json.dumps(data, indent=0, separators=(",", ":")) + "\n", encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    head, _, rest = page.partition("<!-- table -->\n")
    PAGE.write_text(
        head + "<!-- table -->\n" + table(data) + "<!-- end" + rest.partition("<!-- end")[2], encoding="utf-8"
    )


def certificate(key: str, part: str) -> Certificate:
    """The certificate of the instance that refutes a cell's claim."""
    number = json.loads(DATA.read_text(encoding="utf-8"))[key][part]["refuted"]
    found = next(x for k, x in enumerate(instances(key, part)) if k == number)
    claim = allowing(key, part)
    return claim.certified(found, judge(claim, found, "balls"))


if __name__ == "__main__":
    print(certificate(*sys.argv[1:]).text()) if len(sys.argv) == 3 else write(
        {key: {part: cell(key, part) for part in PARTS} for key in keys()}
    )
