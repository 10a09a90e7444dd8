"""Who may ask the app: this machine's browser, under the app's own name, and nobody else.

The app listens on loopback only. A page from elsewhere could still reach it through a name that its
owner points at 127.0.0.1 (DNS rebinding); such a request names that host, and is refused.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import Flask, Response, request

HOST = "127.0.0.1"
_NAMES = frozenset({HOST, "localhost"})

_POLICY = (
    "default-src 'none'; connect-src 'self'; font-src 'self' data:; img-src 'self' data: blob:; "
    "style-src 'self' 'unsafe-inline'; script-src 'self' {scripts}; worker-src 'self' blob:; "
    "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)


def guard(server: Flask, script_hashes: list[str]) -> None:
    """Has `server` refuse other hosts, and browsers fetch from nowhere else.

    `script_hashes` are those of the scripts that the page itself has, for its content security
    policy.
    """
    policy = _POLICY.format(scripts=" ".join(script_hashes))

    @server.before_request
    def refuse_strangers() -> tuple[str, int] | None:
        origin = request.headers.get("Origin")
        if _name(f"//{request.host}") in _NAMES and (origin is None or _name(origin) in _NAMES):
            return None
        return f"This app answers at http://{HOST} and http://localhost only.\n", 403

    @server.after_request
    def close_doors(response: Response) -> Response:
        response.headers["Content-Security-Policy"] = policy
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        return response


def _name(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None
