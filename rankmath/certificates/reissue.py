"""Certificates of the first format, issued again in the second: ``python -m rankmath.certificates.reissue FOLDER``.

The instance stays what it was; the claim and its hypotheses are written out, and the id names them too. The table
of old
and new ids, ``renamed.txt``, is kept beside the certificates. What the second format refuses as vacuous is left
out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rankmath.certificates.certificate import Certificate
from rankmath.certificates.issue import Instance, NotIssued, certify_claim, issue
from rankmath.checker import checker
from rankmath.files import write

OLD_FORMAT = "rankmath-certificate/1"
TABLE = "renamed.txt"


def reissued(content: dict[str, Any]) -> Certificate:
    """The certificate of the second format for the content of one of the first; NotIssued if it says nothing now.

    Examples
    --------
    >>> data = {"A": [[1, 1], [0, 0]], "B": [[1, 0], [1, 0]]}
    >>> old = {"statement": "dong2021:norm", "kind": "violates", "data": data}
    >>> reissued(old).claim
    'norm(A + B, composite) <= norm(A, composite) + norm(B, composite)'
    """
    key = content["statement"]
    data, about = _exact(content["data"]), content.get("about", "")
    if "d_qk" in data and "layers" in data:
        layers = data["layers"]
        W_QK, W, key_bias = (
            np.array([[head[name] for head in layer["heads"]] for layer in layers])
            for name in ("W_QK", "W", "key_bias")
        )
        bias = np.array([layer["bias"] for layer in layers])
        wording = checker.wording(key)
        if wording is None:
            raise NotIssued(f"{key}: not in the checker's table")
        instance = Instance(np.array(data["X"]), W_QK, W, key_bias, bias, data["d_qk"])
        return certify_claim(key, *wording, instance, kind=content["kind"], about=about)
    return issue(Certificate(key, content["kind"], data, _exact(content.get("hints", {})), about))


def _exact(value: Any) -> Any:
    """Numbers of the old notation as fractions; everything else as it is."""
    if isinstance(value, dict):
        return {name: _exact(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_exact(inner) for inner in value]
    if isinstance(value, int) or any(mark in value for mark in "/^") or value.lstrip("-").isdigit():
        return checker.exact_number(value)
    return value


def main(arguments: Sequence[str]) -> int:
    """Issue again every old certificate in the folder; 0 if none was left out."""
    folder = Path(arguments[0])
    table = (
        dict(line.split() for line in (folder / TABLE).read_text().splitlines())
        if (folder / TABLE).exists()
        else {}
    )
    left_out = 0
    for path in sorted(folder.glob("*.json")):
        content = json.loads(path.read_text())
        if content["format"] != OLD_FORMAT:
            continue
        try:
            certificate = reissued(content)
        except NotIssued as error:
            left_out += 1
            print(f"{path.name}: left out: {error}")
            continue
        name = f"{certificate.statement.replace(':', '-')}_{certificate.id}.json"
        certificate.save(folder / name)
        table[content["id"]] = certificate.id
        path.unlink()
        print(f"{content['id']} {certificate.id}")
    write(folder / TABLE, "".join(f"{old} {new}\n" for old, new in sorted(table.items())))
    return 1 if left_out else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
