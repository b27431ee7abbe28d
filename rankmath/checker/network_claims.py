"""Registered claims about networks: `network_claims.txt` has for each its key | title | the claim | its hypotheses.

The library writes the same claims as formulas; a test holds the two against each other.
"""

from __future__ import annotations

import re
from pathlib import Path

CLAIM_FILE = Path(__file__).with_name("network_claims.txt").read_text(encoding="utf-8")


def _claim_of(entry: str) -> tuple[str, tuple[str, str, tuple[str, ...]]]:
    key, title, claim, given = " ".join(entry.split()).split(" | ")
    return key, (title, claim, tuple(given.split("; ")))


# An entry begins where a line does, and its other lines with a blank.
NETWORK_CLAIMS = dict(_claim_of(entry) for entry in re.split(r"\n(?=\S)", CLAIM_FILE.strip()))
