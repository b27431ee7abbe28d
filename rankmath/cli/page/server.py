"""The page served to this machine alone: 127.0.0.1, and only to whoever knows the token in its address."""

from __future__ import annotations

import json
import secrets
import socket
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

from rankmath.cli.page.certify import certificate_of
from rankmath.cli.page.page import page
from rankmath.validation import InvalidArgument

#: What WSGI hands over.
Environ: TypeAlias = dict[str, Any]

HOST = "127.0.0.1"
_MOST_BYTES = 65_536

Start = Callable[[str, list[tuple[str, str]]], object]


class Explorer:
    """A WSGI application; certificates are written into `output`, and nothing else is written anywhere."""

    def __init__(self, output: str | Path) -> None:
        self.output, self.token = Path(output), secrets.token_urlsafe(24)
        # The precision of balls is a setting of the whole process.
        self._one_at_a_time = threading.Lock()

    def __call__(self, environ: Environ, start: Start) -> Iterable[bytes]:
        status, kind, body = self._answer(environ)
        headers = [
            ("Content-Type", kind),
            ("Content-Length", str(len(body))),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
            ("X-Frame-Options", "DENY"),
        ]
        start(status, headers)
        return [body]

    def _answer(self, environ: Environ) -> tuple[str, str, bytes]:
        # A page elsewhere that makes its name point here is not let in.
        host = environ.get("HTTP_HOST", "").rpartition(":")[0] or environ.get("HTTP_HOST", "")
        if host not in (HOST, "localhost"):
            return _said("403 Forbidden", "this server answers to its own machine alone")
        token, _, rest = environ.get("PATH_INFO", "").lstrip("/").partition("/")
        if not secrets.compare_digest(token.encode(), self.token.encode()):
            return _said("404 Not Found", "open the address that `rankmath explore` printed")
        method = environ.get("REQUEST_METHOD", "GET")
        if rest == "" and method == "GET":
            return "200 OK", "text/html; charset=utf-8", page("certify").encode()
        if rest == "certify" and method == "POST":
            return self._certify(environ)
        return _said("404 Not Found", "nothing here")

    def _certify(self, environ: Environ) -> tuple[str, str, bytes]:
        size = environ.get("CONTENT_LENGTH") or "0"
        if not size.isdigit() or int(size) > _MOST_BYTES:
            return _said("413 Content Too Large", f"at most {_MOST_BYTES} bytes")
        try:
            state = json.loads(environ["wsgi.input"].read(int(size)))
        except (ValueError, RecursionError):
            return _said("400 Bad Request", "no JSON")
        try:
            with self._one_at_a_time:
                found = certificate_of(state, self.output)
        except InvalidArgument as refusal:
            return _said("200 OK", str(refusal))
        except OSError as failure:  # a full disk; waitress would print a traceback
            return _said("200 OK", str(failure))
        return "200 OK", "application/json", json.dumps(found).encode()


def _said(status: str, words: str) -> tuple[str, str, bytes]:
    return status, "application/json", json.dumps({"proved": False, "refused": words}).encode()


def server(explorer: Explorer, port: int = 0) -> tuple[Any, str]:
    """A server that is ready to `run`, and the address to open."""
    try:
        import waitress
    except ImportError:
        raise InvalidArgument(
            "explore: waitress is not installed; pip install 'rankmath[explore]', or use --export FILE"
        ) from None
    listening = socket.socket()
    try:
        listening.bind((HOST, port))
    except OSError as error:
        listening.close()
        raise InvalidArgument(f"--port: {port} given; it cannot be used ({error.strerror})") from None
    ready = waitress.create_server(explorer, sockets=[listening], threads=2, ident=None)
    return ready, f"http://{HOST}:{listening.getsockname()[1]}/{explorer.token}/"
