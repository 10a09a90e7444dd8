"""The report, served: the same pages as in the file, piece by piece, and the runs under way; and
who may ask for them: the user who started the app, by this machine's browser, under its own name.

The app listens on loopback only. Any user of the machine reaches that, so whoever asks shows the
token of the address that the app printed; the browser keeps it as a cookie. A page from elsewhere
could still reach it through a name that its owner points at 127.0.0.1 (DNS rebinding); such a
request names that host, and is refused.
"""

from __future__ import annotations

import base64
import hashlib
import os
import secrets
import socket
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

from flask import Flask, Response, jsonify, redirect, request
from plotly.offline import get_plotlyjs
from werkzeug.serving import ThreadedWSGIServer, WSGIRequestHandler

from analysis.compare.compared import compare
from base.files.errors import RunError, TailscopeError
from base.processes import signals
from dashboards.app import runs
from dashboards.app.pieces import Choice, Library
from dashboards.compare import sheet
from dashboards.page.templates import files_text, fragment
from dashboards.report import SCRIPTS, page_html

DEFAULT_PORT = 8050
HOST = "127.0.0.1"
TOKEN = "token"
_LETTERS = 32
_NAMES = frozenset({HOST, "localhost"})

ANY_OWN = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
"""The policy of a document that is complete in itself, as the report's file is."""

_POLICY = (
    "default-src 'none'; connect-src 'self'; font-src 'self' data:; img-src 'self' data: blob:; "
    "style-src 'self' 'unsafe-inline'; script-src 'self' {scripts}; worker-src 'self' blob:; "
    "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)


SILENT_WITHIN_S = 10.0
"""A connection over which nothing comes for so long is closed."""


class ServeError(TailscopeError):
    """The app cannot be served as asked."""


def make_app(library: Library, token: str) -> Flask:
    """The report over the runs of `library`, for whoever has `token`. It asks nobody else for
    anything.
    """
    app, wires = Flask("tailscope", static_folder=None), runs.Wires(library.runs)

    @app.errorhandler(TailscopeError)
    def refuse(error: TailscopeError) -> Response:
        return Response(f"{error}\n", 404, mimetype="text/plain")

    @app.get("/")
    def shell() -> str:
        return library.shell(_choice())

    @app.get("/page")
    def page() -> str:
        return library.page(_choice(), request.args.get("key", ""), request.args.get("scenario", ""))

    @app.get("/run")
    def run() -> str:
        return library.run(_choice(), request.args.get("id", ""))

    @app.get("/sample")
    def sample() -> Response:
        return jsonify(library.sample(_choice(), request.args.get("id", ""), request.args.get("key", "")))

    @app.get("/runs")
    def table() -> str:
        index = library.table()
        return page_html(runs.page(index, runs.going_on(library.runs, index)), "runs")

    @app.get("/live")
    def live() -> Response:
        index = library.table()
        going = runs.going_on(library.runs, index)
        boxes = runs.boxes(library.runs, index, going, wires.of(going))
        return jsonify({"counted": runs.counted(index, going), "boxes": fragment("live.html", boxes)})

    @app.get("/compare")
    def comparison() -> Response:
        chosen = request.args.getlist("run")
        if len(chosen) != 2:
            raise RunError(f"A comparison is of two runs, and the address names {len(chosen)}.")
        a, b = (library.load(identity).folder for identity in chosen)
        return Response(
            sheet(compare(a, b)).html(),
            headers={"Content-Security-Policy": ANY_OWN},
            mimetype="text/html",
        )

    @app.get("/plotly.js")
    def plotly() -> Response:
        return Response(
            get_plotlyjs(), headers={"Cache-Control": "max-age=86400"}, mimetype="text/javascript"
        )

    digest = hashlib.sha256(files_text(SCRIPTS).encode()).digest()
    guard(app, token, f"'sha256-{base64.b64encode(digest).decode()}'")
    return app


def token_of(path: Path) -> str:
    """A word that nobody guesses, the same after a restart: an open page goes on.

    It lies in `path`, which nobody else may read; where it cannot, it is of this start only.
    """
    with suppress(OSError, UnicodeDecodeError):
        status, word = path.lstat(), path.read_text(encoding="ascii")
        if (status.st_uid, status.st_mode & 0o077, len(word)) == (os.getuid(), 0, _LETTERS):
            return word
    word = secrets.token_urlsafe(_LETTERS * 3 // 4)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(word)
    return word


def guard(server: Flask, token: str, script_hash: str) -> None:
    """Has `server` refuse other hosts and whoever lacks `token`; and browsers fetch from nowhere
    else.

    `script_hash` is that of the script that the page itself has, for its content security policy.
    """
    policy = _POLICY.format(scripts=script_hash)

    @server.before_request
    def refuse_strangers() -> tuple[str, int] | Response | None:
        origin = request.headers.get("Origin")
        if _name(f"//{request.host}") not in _NAMES or not (origin is None or _name(origin) in _NAMES):
            return f"This app answers at http://{HOST} and http://localhost only.\n", 403
        _, _, port = request.host.rpartition(":")
        # Browsers tell no ports apart, and several apps may be open.
        cookie = f"tailscope-{port if port.isdecimal() else '80'}"
        if request.method == "GET" and _is(token, request.args.get(TOKEN)):
            # Leads on to the same address without the token, which the browser keeps.
            parameters = [(name, value) for name, value in request.args.items(multi=True) if name != TOKEN]
            path = quote("/" + request.path.lstrip("/"))  # else it could lead to another host
            response = redirect(path + (f"?{urlencode(parameters)}" if parameters else ""))
            assert isinstance(response, Response)
            response.set_cookie(cookie, token, httponly=True, samesite="Lax")
            return response
        authorization = request.headers.get("Authorization")
        if _is(token, request.cookies.get(cookie)) or _is(f"Bearer {token}", authorization):
            return None
        return (
            "This app shows its runs to the user who started it: open the whole address that it printed, "
            f"with ?{TOKEN}=….\n"
        ), 403

    @server.after_request
    def close_doors(response: Response) -> Response:
        response.headers.setdefault("Content-Security-Policy", policy)
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        return response


def _is(wanted: str, given: str | None) -> bool:
    """Tells nothing by the time that it takes."""
    return given is not None and secrets.compare_digest(wanted.encode(), given.encode(errors="replace"))


def _name(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


def _choice() -> Choice:
    return Choice(tuple(dict.fromkeys(request.args.getlist("run"))), request.args.get("all") == "1")


class _Handler(WSGIRequestHandler):
    timeout = SILENT_WITHIN_S

    def log(self, type: str, message: str, *args: object) -> None:
        """Nothing: what a user should know stands on the page."""


def server_of(listening: socket.socket, app: Flask) -> ThreadedWSGIServer:
    """Answers for `app` at the socket `listening`."""
    host, port = listening.getsockname()
    return ThreadedWSGIServer(host, port, app, handler=_Handler, fd=listening.fileno())


def serve(library: Library, token_at: Path, port: int = DEFAULT_PORT) -> None:
    """Serves the app until a signal ends it, and says where. Raises ServeError.

    Whoever asks must know the word in `token_at`, which is in the address that it prints. `port` 0
    is any that is free.
    """
    try:
        listening = socket.create_server((HOST, port))
    except (OSError, OverflowError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
        raise ServeError(
            f"Port {port} of {HOST} cannot be used ({reason}); end what uses it, or give another: --port 0 "
            "takes any that is free."
        ) from None
    token = token_of(token_at)
    with listening:
        server = server_of(listening, make_app(library, token))
        print(
            f"The app shows the runs of {library.runs} at http://{HOST}:{server.port}/?{TOKEN}={token} ; "
            "Ctrl-C ends it.",
            flush=True,
        )
        server.timeout = signals.POLL_S
        try:
            with signals.orderly():  # what a signal raises may be lost, as in the callback of a weakref
                while signals.asked() is None:
                    server.handle_request()
        finally:
            server.server_close()
