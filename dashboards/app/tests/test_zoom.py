"""A figure of many points: drawn in part, and at full resolution where a reader zooms in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from dash import no_update

from dashboards.app.address import Address, run_address
from dashboards.app.library import Library
from dashboards.app.server import make_app, zoomed
from dashboards.app.shown import Pages
from dashboards.figures.decimate import LONG
from dashboards.tests.synthetic import mem_stress, write_run


def test_a_long_run_is_drawn_in_part_and_zoomed_into(tmp_path: Path) -> None:
    folder = write_run(tmp_path, "mem_stress", "seglist", mem_stress("seglist", 3 * LONG))
    pages = Pages(Library(tmp_path))
    shown = pages.at(Address("run", run=folder.name))
    key, longs = next(iter(shown.long.items()))
    long = longs[0]
    assert len(long.drawn) < len(long.x)
    view = {f"{long.axes[0]}.range[0]": 5_000.0, f"{long.axes[0]}.range[1]": 5_400.0}
    operations = zoomed(shown, key, view).to_plotly_json()["operations"]
    x = next(
        operation["params"]["value"]
        for operation in operations
        if operation["location"] == ["data", long.number, "x"]
    )
    inside = long.x[(long.x >= 5_000) & (long.x <= 5_400)]
    assert np.isin(inside, np.asarray(x, float)).all()
    assert zoomed(shown, key, {"autosize": True}) is no_update
    assert zoomed(shown, key, {f"{long.axes[0]}.autorange": True}) is not no_update
    assert zoomed(shown, "none", view) is no_update


def test_the_page_of_a_run_is_zoomed_into_through_its_address(tmp_path: Path) -> None:
    folder = write_run(tmp_path, "mem_stress", "seglist", mem_stress("seglist", 2 * LONG))
    app = make_app(Library(tmp_path), "token")
    name = next(
        callback for callback in app.callback_map if '"figure"' in callback and callback.endswith(".data")
    )
    graph = {
        "type": "long-graph",
        "key": next(iter(Pages(Library(tmp_path)).at(Address("run", run=folder.name)).long)),
    }
    output = {"id": {"type": "figure", "key": graph["key"]}, "property": "data"}
    question = {
        "output": name,
        "outputs": output,
        "inputs": [{"id": graph, "property": "relayoutData", "value": {"xaxis.autorange": True}}],
        "state": [
            {"id": "place", "property": "data", "value": [run_address(folder.name), ""]},
            {"id": graph, "property": "id", "value": graph},
        ],
        "changedPropIds": [],
    }
    answer = app.server.test_client().post(
        "/_dash-update-component",
        json=question,
        base_url="http://127.0.0.1",
        headers={"Authorization": "Bearer token"},
    )
    assert answer.status_code in (200, 204), answer.text
