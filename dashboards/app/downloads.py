"""Tables as files: CSV and Parquet, with the values whole."""

from __future__ import annotations

import io
from collections.abc import Callable

import flask
import polars as pl

from base.files.errors import TailscopeError
from dashboards.app.address import RUNS
from dashboards.app.asked import address_of
from dashboards.app.overview import TABLE
from dashboards.app.shown import Pages

_KINDS: dict[str, tuple[str, Callable[[pl.DataFrame, io.BytesIO], object]]] = {
    "csv": ("text/csv; charset=utf-8", lambda table, file: table.write_csv(file)),
    "parquet": ("application/vnd.apache.parquet", lambda table, file: table.write_parquet(file)),
}


def add_downloads(server: flask.Flask, pages: Pages) -> None:
    """Has `server` answer /download/<page>/<table>.<csv or parquet>."""

    @server.get("/download/<page>/<name>.<kind>")
    def download(page: str, name: str, kind: str) -> tuple[flask.Response | str, int]:
        if kind not in _KINDS:
            return "A table is saved as csv or parquet.\n", 404
        try:
            table = _table(pages, page, name)
        except TailscopeError as error:
            return f"{error}\n", 404
        if table is None:
            return f"The page {page} has no table {name}.\n", 404
        mime, write = _KINDS[kind]
        content = io.BytesIO()
        write(table, content)
        answer = flask.Response(content.getvalue(), mimetype=mime)
        answer.headers["Content-Disposition"] = f'attachment; filename="{name}.{kind}"'
        return answer, 200


def _table(pages: Pages, page: str, name: str) -> pl.DataFrame | None:
    if page == RUNS:
        return pages.library.table() if name == TABLE else None
    address = address_of((f"/{page}", flask.request.query_string.decode("ascii", "replace")))
    return next((grid.frame() for grid in pages.shown(address).page.grids() if grid.key == name), None)
