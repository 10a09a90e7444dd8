"""The app itself: its shell, what its pages answer, and serving them on loopback."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import flask
from dash import MATCH, ClientsideFunction, Dash, Input, Output, Patch, State, dcc, html, no_update

from base.files.errors import TailscopeError
from base.processes import signals
from dashboards.app import overview, sample, waveform
from dashboards.app.address import COMPARE, RUNS, SAMPLE, Address
from dashboards.app.asked import address_of, range_of, refuse_others, table_of
from dashboards.app.compared import Comparisons
from dashboards.app.downloads import add_downloads
from dashboards.app.draw import FIGURE, GRAPH, LONG_GRAPH, drawn
from dashboards.app.explained import EXPLAINED, WHY
from dashboards.app.guard import HOST, TOKEN, guard, new_token
from dashboards.app.library import Library
from dashboards.app.listening import Server
from dashboards.app.overview import under_way
from dashboards.app.shown import Entry, Pages, Shown, offered
from dashboards.app.wires import Wires

DEFAULT_PORT = 8050
POLL_MS = 2_000
"""While a run is under way the page asks twice a second (assets/app.js)."""

_PAGE_FILES = Path(__file__).parent.parent / "page"
_SCRIPTS = ("glossary.js", "paint.js", "picker.js", "between.js", "why.js")
_SHARED = ("page.css", *_SCRIPTS)
_SHELL = """<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>{%title%}</title>
    {%css%}
  </head>
  <body>
    {%app_entry%}
    <footer>{%config%}{%scripts%}{%renderer%}</footer>
  </body>
</html>"""


class ServeError(TailscopeError):
    """The app cannot be served as asked."""


def make_app(library: Library, token: str) -> Dash:
    """The app over the runs of `library`, for whoever has `token`. It asks nobody else for
    anything.
    """
    app = Dash(
        __name__,
        title="Tailscope",
        update_title=None,  # type: ignore[arg-type]
        serve_locally=True,
        suppress_callback_exceptions=True,
        external_stylesheets=["/shared/page.css"],
        external_scripts=[f"/shared/{name}" for name in _SCRIPTS],
        index_string=_SHELL,
        enable_mcp=False,
    )
    app.layout = _shell()
    pages = Pages(library)
    _answer(app, pages)
    _act_in_the_browser(app)
    add_downloads(app.server, pages)
    app.server.add_url_rule("/shared/<name>", "shared", _shared)
    guard(app.server, token, list(app.csp_hashes()))
    refuse_others(app)
    return app


def serve(library: Library, port: int = DEFAULT_PORT) -> None:
    """Serves the app until a signal ends it, and says where. Raises ServeError.

    `port` 0 is any that is free.
    """
    try:
        listening = socket.create_server((HOST, port))
    except (OSError, OverflowError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
        raise ServeError(
            f"Port {port} of {HOST} cannot be used ({reason}); end what uses it, or give another: --port 0 "
            "takes any that is free."
        ) from None
    token = new_token()
    with listening:
        server = Server(listening, make_app(library, token).server)
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


def _shared(name: str) -> flask.Response:
    """Style and painting, the same as the report's."""
    if name not in _SHARED:
        flask.abort(404)
    return flask.send_from_directory(_PAGE_FILES, name)


def _shell() -> Any:
    return html.Div(
        [
            dcc.Location(id="url", refresh="callback-nav"),
            dcc.Store(id="place"),
            html.Header(
                html.Div(
                    [
                        html.A("Tailscope", href="/", className="brand"),
                        html.Nav(_nav(Address()), id="nav", **{"aria-label": "Pages"}),  # type: ignore[arg-type]
                        html.Button(
                            "dark or light", className="theme", title="Change between dark and light"
                        ),
                    ],
                    className="bar-top",
                ),
                className="app",
            ),
            html.Main(id="content", className="app", tabIndex="-1"),
            dcc.Interval(id="poll", interval=POLL_MS),
        ]
    )


def _is_odd(clicks: object) -> bool:
    """Whether a button that turns something on and off has turned it on."""
    return isinstance(clicks, int) and clicks % 2 == 1


def _answer(app: Dash, pages: Pages) -> None:
    """Registers the server's answers: pages, and more of a figure when a reader zooms in."""
    comparisons = Comparisons(pages.library)
    wires = Wires(pages.library.runs)

    @app.callback(Output("content", "children"), Input("place", "data"))
    def show(place: object) -> Any:
        return _content(pages, comparisons, address_of(place)) if place else no_update

    # Only once the page is there, with its `ids`: what a scenario lacks may take a second to find.
    @app.callback(Output("nav", "children"), Input("ids", "data"), State("place", "data"))
    def lead_on(_ids: object, place: object) -> Any:
        if not place:
            return no_update
        address = address_of(place)
        return _nav(address, pages.lacking(address))

    @app.callback(
        Output(overview.GRID, "rowData"),
        Output("counted", "children"),
        Output("live", "children"),
        Input("poll", "n_intervals"),
        State(overview.REPEATS, "n_clicks"),
        State("place", "data"),
        State("counted", "children"),
        prevent_initial_call=True,
    )
    def look_again(_times: object, clicks: object, place: object, counted: object) -> tuple[Any, Any, Any]:
        if not place or address_of(place).page != RUNS:
            return no_update, no_update, no_update
        table = pages.library.table()
        going = overview.going_on(pages.library.runs, table)
        boxes = under_way(pages.library.runs, table, going, wires.pictures(going))
        words = overview.counted(table, going)
        if words == counted:
            return no_update, no_update, boxes
        return overview.rows(table, going, repeats=_is_odd(clicks)), words, boxes

    # By itself: a look that begins before this ends must not take its place.
    @app.callback(
        Output(overview.GRID, "rowData", allow_duplicate=True),
        Input(overview.REPEATS, "n_clicks"),
        prevent_initial_call=True,
    )
    def unfold(clicks: object) -> Any:
        table = pages.library.table()
        return overview.rows(table, overview.going_on(pages.library.runs, table), repeats=_is_odd(clicks))

    @app.callback(
        Output({"type": FIGURE, "key": MATCH}, "data"),
        Input({"type": LONG_GRAPH, "key": MATCH}, "relayoutData"),
        State("place", "data"),
        State({"type": LONG_GRAPH, "key": MATCH}, "id"),
        prevent_initial_call=True,
    )
    def zoom(view: object, place: object, graph: object) -> Any:
        resource = address_of(place), str(table_of(graph).get("key")), table_of(view)
        try:
            return zoomed(pages.at(resource[0]), *resource[1:])
        except TailscopeError:  # the page says so
            return no_update

    @app.callback(
        Output(sample.WAVE_FIGURE, "data"),
        Input(sample.WAVE, "relayoutData"),
        State("place", "data"),
        State(sample.WIRE, "data"),
        prevent_initial_call=True,
    )
    def move(view: object, place: object, wire: object) -> Any:
        seen, zero = range_of(table_of(view), "xaxis"), table_of(wire).get("zero")
        if seen is None or type(zero) is not int:
            return no_update
        try:
            series = sample.series_of(pages.library.load(address_of(place).run))
            window = waveform.in_view(series, zero, seen)
        except TailscopeError:  # the page says so
            return no_update
        if window is None:
            return no_update
        figure = waveform.figure(series, window)
        figure["layout"]["xaxis"]["range"] = list(seen)
        return figure


def _content(pages: Pages, comparisons: Comparisons, address: Address) -> Any:
    """The page, or a sentence on why there is none."""
    try:
        if address.page == RUNS:
            return [_entries(()), *_runs(pages)]
        if address.page == COMPARE:
            return [_entries(()), *comparisons.page(address)]
        if address.page == SAMPLE:
            run = pages.library.load(address.run)
            return [_entries(sample.entries(run)), *sample.sample_page(run, address.run, address.key)]
        return _of_shown(pages.at(address))
    except TailscopeError as error:
        return [_entries(()), html.H1("Not here"), html.P(str(error), className="missing", role="alert")]


def _runs(pages: Pages) -> list[Any]:
    table = pages.library.table()
    going = overview.going_on(pages.library.runs, table)
    return overview.overview(table, under_way(pages.library.runs, table, going, {}), going)


def _of_shown(shown: Shown) -> list[Any]:
    choice = [html.Details(id="picker", className="picker", open=True)] if shown.picked else []
    return [_entries(shown.entries, dict(shown.ids)), *_scenarios(shown), *choice, *drawn(shown)]


def _entries(entries: tuple[Entry, ...], ids: dict[str, str] | None = None) -> Any:
    """The browser's data of the runs: the picker's entries, and where a click leads."""
    documents = [asdict(entry) for entry in entries]
    return html.Div(
        [dcc.Store(id="entries", data=documents), dcc.Store(id="ids", data=ids or {}), dcc.Store(id="chosen")]
    )


def _scenarios(shown: Shown) -> list[Any]:
    """Links to the same page of other scenarios."""
    if len(shown.scenarios) < 2:
        return []
    names = {series.run.manifest.scenario for series in shown.series}
    links = [
        html.A(
            scenario,
            href=str(Address(shown.address.page, scenario, shown.address.runs, shown.address.every)),
            className="tool",
            **({"aria-current": "true"} if names == {scenario} else {}),  # type: ignore[arg-type]
        )
        for scenario in shown.scenarios
    ]
    return [html.Nav(["scenario", *links], className="choices", **{"aria-label": "Scenarios"})]  # type: ignore[arg-type]


def _nav(address: Address, lacking: Mapping[str, str] | None = None) -> list[Any]:
    """The links of the head; which runs were chosen goes along. Those `lacking` lead nowhere, and
    their title says why.
    """
    here = {"aria-current": "page"}
    links = [html.A("Runs", href="/", **(here if address.page == RUNS else {}))]  # type: ignore[arg-type]
    for key, words in offered().items():
        if lacking and key in lacking and key != address.page:
            off = {"aria-disabled": "true", "role": "link"}
            links.append(html.A(words, title=lacking[key], **off))  # type: ignore[arg-type]
            continue
        to = Address(key, address.scenario, address.runs, address.every)
        links.append(html.A(words, href=str(to), **(here if address.page == key else {})))  # type: ignore[arg-type]
    return links


def zoomed(shown: Shown, key: str, view: dict[str, Any]) -> Any:
    """The long traces of a figure with the points that `view` has room for."""
    patch, changed = Patch(), False
    for long in shown.long.get(key, ()):
        seen = range_of(view, long.axes[0])
        if seen is not None:
            rows = long.within(seen, range_of(view, long.axes[1]))
        elif view.get(f"{long.axes[0]}.autorange"):
            rows = long.drawn
        else:
            continue
        changed = True
        for name, values in long.of(rows).items():
            place = patch["data"][long.number]
            *outer, last = name.split(".")
            for part in outer:
                place = place[part]
            place[last] = values
    return patch if changed else no_update


def _act_in_the_browser(app: Dash) -> None:
    """Registers the callbacks of assets/app.js; each name is a function there."""

    def browser(
        name: str, *arguments: Output | Input | State, prevent_initial_call: bool | None = None
    ) -> None:
        app.clientside_callback(  # type: ignore[no-untyped-call]
            ClientsideFunction("tailscope", name), *arguments, prevent_initial_call=prevent_initial_call
        )

    browser("place", Output("place", "data"), Input("url", "pathname"), Input("url", "search"))
    browser("choose", Output("chosen", "data"), Input("entries", "data"), Input("url", "search"))
    for kind in (GRAPH, LONG_GRAPH):
        graph = {"type": kind, "key": MATCH}
        browser(
            "paint",
            Output(graph, "figure"),
            Input({"type": FIGURE, "key": MATCH}, "data"),
            Input("chosen", "data"),
        )
        browser(
            "open",
            Output(graph, "clickData"),
            Input(graph, "clickData"),
            State(graph, "figure"),
            State("ids", "data"),
            prevent_initial_call=True,
        )
    browser(
        "waveform",
        Output(sample.WAVE, "figure"),
        Output("between", "children"),
        Input(sample.WAVE_FIGURE, "data"),
        Input("chosen", "data"),
        Input("cursor-A", "value"),
        Input("cursor-B", "value"),
        State(sample.WIRE, "data"),
    )
    browser("why", Output(WHY, "title"), Input(EXPLAINED, "data"), State(sample.WIRE, "data"))
    browser(
        "mark",
        Output("cursor-A", "value"),
        Output("cursor-B", "value"),
        Output("placing", "data"),
        Input(sample.WAVE, "clickData"),
        State("placing", "data"),
        State(sample.WIRE, "data"),
        prevent_initial_call=True,
    )
    browser(
        "find",
        Output(overview.GRID, "dashGridOptions"),
        Input(overview.FIND, "value"),
        State(overview.GRID, "dashGridOptions"),
        prevent_initial_call=True,
    )
    browser("pace", Output("poll", "interval"), Input("live", "children"))
    browser(
        "compare",
        Output("compare", "href"),
        Output("compare", "children"),
        Output("compare", "hidden"),
        Output("matrix", "href"),
        Output("matrix", "children"),
        Output("matrix", "hidden"),
        Output("chosen-words", "children"),
        Input(overview.GRID, "selectedRows"),
        Input(overview.GRID, "virtualRowData"),
    )
