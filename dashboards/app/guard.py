"""Who may ask the app: the user who started it, by this machine's browser, under its own name.

The app listens on loopback only. Any user of the machine reaches that, so whoever asks shows the
token of the address that the app printed; the browser keeps it as a cookie. A page from elsewhere
could still reach it through a name that its owner points at 127.0.0.1 (DNS rebinding); such a
request names that host, and is refused.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

from flask import Flask, Response, redirect, request
from werkzeug.exceptions import RequestEntityTooLarge

HOST = "127.0.0.1"
TOKEN = "token"
MOST_BODY_BYTES = 1 << 20
"""Of a request: what a page asks takes a few hundred."""
_LEAST_LETTERS = 32
_NAMES = frozenset({HOST, "localhost"})

ANY_OWN = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
"""The policy of a document that is complete in itself, as the report's file is."""

_POLICY = (
    "default-src 'none'; connect-src 'self'; font-src 'self' data:; img-src 'self' data: blob:; "
    "style-src 'self' 'unsafe-inline'; script-src 'self' {scripts}; worker-src 'self' blob:; "
    "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)


def token_of(path: Path) -> str:
    """A word that nobody guesses, the same after a restart: an open page goes on.

    It lies in `path`, which nobody else may read; where it cannot, it is of this start only.
    """
    with suppress(OSError, UnicodeDecodeError):
        status = path.lstat()
        word = path.read_text(encoding="ascii").strip()
        if status.st_uid == os.getuid() and not status.st_mode & 0o077 and len(word) >= _LEAST_LETTERS:
            return word
    word = secrets.token_urlsafe(24)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(word)
    return word


def guard(server: Flask, token: str, script_hashes: list[str]) -> None:
    """Has `server` refuse other hosts, whoever lacks `token`, and bodies that are too long; and
    browsers fetch from nowhere else.

    `script_hashes` are those of the scripts that the page itself has, for its content security
    policy.
    """
    policy = _POLICY.format(scripts=" ".join(script_hashes))
    server.config["MAX_CONTENT_LENGTH"] = MOST_BODY_BYTES

    @server.before_request
    def refuse_strangers() -> tuple[str, int] | Response | None:
        origin = request.headers.get("Origin")
        if _name(f"//{request.host}") not in _NAMES or not (origin is None or _name(origin) in _NAMES):
            return f"This app answers at http://{HOST} and http://localhost only.\n", 403
        if request.method == "GET" and _is(token, request.args.get(TOKEN)):
            return _let_in(token)
        if _is(token, request.cookies.get(_cookie())) or _is(f"Bearer {token}", _authorization()):
            return None
        return (
            "This app shows its runs to the user who started it: open the whole address that it printed, "
            f"with ?{TOKEN}=….\n"
        ), 403

    @server.errorhandler(RequestEntityTooLarge)
    def refuse_long_body(_error: RequestEntityTooLarge) -> tuple[str, int]:
        return f"The app takes requests of at most {MOST_BODY_BYTES:,} bytes.\n", 413

    @server.after_request
    def close_doors(response: Response) -> Response:
        response.headers.setdefault("Content-Security-Policy", policy)
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        return response


def _let_in(token: str) -> Response:
    """Leads on to the same address without the token, which the browser keeps."""
    parameters = [(name, value) for name, value in request.args.items(multi=True) if name != TOKEN]
    path = quote("/" + request.path.lstrip("/"))  # else it could lead to another host
    response = redirect(path + (f"?{urlencode(parameters)}" if parameters else ""))
    assert isinstance(response, Response)
    response.set_cookie(_cookie(), token, httponly=True, samesite="Lax")
    return response


def _cookie() -> str:
    """Its name. Browsers tell no ports apart, and several apps may be open."""
    return f"tailscope-{_port(request.host)}"


def _authorization() -> str | None:
    return request.headers.get("Authorization")


def _is(wanted: str, given: str | None) -> bool:
    """Tells nothing by the time that it takes."""
    return given is not None and secrets.compare_digest(wanted.encode(), given.encode(errors="replace"))


def _port(host: str) -> str:
    _, _, port = host.rpartition(":")
    return port if port.isdecimal() else "80"


def _name(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None
