"""The report, served: the same pages as in the file, piece by piece, and the runs under way."""

from __future__ import annotations

import base64
import hashlib
import os
import socket
from functools import cache
from pathlib import Path

from flask import Flask, Response, jsonify, request
from plotly.offline import get_plotlyjs

from analysis.compare.compared import compare
from base.files.errors import TailscopeError
from base.processes import signals
from dashboards.app import runs
from dashboards.app.guard import ANY_OWN, HOST, TOKEN, guard, token_of
from dashboards.app.library import Library
from dashboards.app.listening import Server
from dashboards.app.pieces import SERVED_SCRIPTS, AddressError, Choice, Pieces
from dashboards.app.wires import Wires
from dashboards.compare import html as comparison_html
from dashboards.page.templates import fragment, script
from dashboards.report import page_html

DEFAULT_PORT = 8050


class ServeError(TailscopeError):
    """The app cannot be served as asked."""


def make_app(library: Library, token: str) -> Flask:
    """The report over the runs of `library`, for whoever has `token`. It asks nobody else for
    anything.
    """
    app = Flask("tailscope", static_folder=None)
    pieces, wires = Pieces(library), Wires(library.runs)

    @app.errorhandler(TailscopeError)
    def refuse(error: TailscopeError) -> Response:
        return Response(f"{error}\n", 404, mimetype="text/plain")

    @app.get("/")
    def shell() -> str:
        return pieces.shell(_choice())

    @app.get("/page")
    def page() -> str:
        return pieces.page(_choice(), request.args.get("key", ""), request.args.get("scenario", ""))

    @app.get("/run")
    def run() -> str:
        return pieces.run(_choice(), request.args.get("id", ""))

    @app.get("/sample")
    def sample() -> Response:
        return jsonify(pieces.sample(_choice(), request.args.get("id", ""), request.args.get("key", "")))

    @app.get("/runs")
    def table() -> str:
        index = library.table()
        return page_html(runs.page(index, runs.going_on(library.runs, index)), "runs")

    @app.get("/live")
    def live() -> Response:
        index = library.table()
        going = runs.going_on(library.runs, index)
        boxes = runs.boxes(library.runs, index, going, wires.pictures(going))
        return jsonify({"counted": runs.counted(index, going), "boxes": fragment("live.html", boxes)})

    @app.get("/alive")
    def alive() -> str:
        return ""

    @app.get("/compare")
    def comparison() -> Response:
        chosen = request.args.getlist("run")
        if len(chosen) != 2:
            raise AddressError(f"A comparison is of two runs, and the address names {len(chosen)}.")
        a, b = (library.load(identity).folder for identity in chosen)
        return Response(
            comparison_html(compare(a, b)),
            headers={"Content-Security-Policy": ANY_OWN},
            mimetype="text/html",
        )

    @app.get("/plotly.js")
    def plotly() -> Response:
        return Response(_plotly(), headers={"Cache-Control": "max-age=86400"}, mimetype="text/javascript")

    digest = hashlib.sha256(script(SERVED_SCRIPTS).encode()).digest()
    guard(app, token, [f"'sha256-{base64.b64encode(digest).decode()}'"])
    return app


@cache
def _plotly() -> str:
    return str(get_plotlyjs())


def _choice() -> Choice:
    return Choice(tuple(dict.fromkeys(request.args.getlist("run"))), request.args.get("all") == "1")


def serve(library: Library, token_at: Path, port: int = DEFAULT_PORT) -> None:
    """Serves the app until a signal ends it, and says where. Raises ServeError.

    Whoever asks must know the word in `token_at`. `port` 0 is any that is free.
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
        server = Server(listening, make_app(library, token))
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
