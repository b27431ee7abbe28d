"""The page as one file that needs no network."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html import escape
from pathlib import Path

from rankmath.version import __version__

_TEMPLATES = Path(__file__).parent / "templates"


def page(post_to: str | None = None) -> str:
    """The whole page; with `post_to`, an address of this machine, its button certifies there.

    >>> text = page()
    >>> "<script src" in text or "http://" in text.replace("http://www.w3.org/2000/svg", "")
    False
    """
    style, script, body = (
        (_TEMPLATES / name).read_text(encoding="utf-8") for name in ("explore.css", "explore.js", "explore.html")
    )
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = [
        "default-src 'none'",
        f"script-src 'sha256-{digest}'",
        "style-src 'unsafe-inline'",
        "img-src data: blob:",
        f"connect-src {chr(39)}self{chr(39)}" if post_to else "connect-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    filled = {
        "policy": escape("; ".join(policy), quote=True),
        "style": style,
        "script": script,
        "version": escape(__version__),
        "settings": escape(json.dumps({"postTo": post_to}), quote=True),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda name: filled[name[1]], body)
