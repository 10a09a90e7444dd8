"""What a page asks the server, checked before it is answered: anybody can send anything."""

from __future__ import annotations

import json
from math import isfinite
from typing import Annotated, Any, NoReturn

import flask
from dash import Dash
from dash.exceptions import DependencyException
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from dashboards.app.address import Address, parse

_PATH = "/_dash-update-component"
_MOST = 1e15
"""Of an end of an axis: more is nothing that was measured."""


class _Part(BaseModel):
    """A property of an element of the page, and its value. Dash's scripts add more."""

    model_config = ConfigDict(strict=True, extra="ignore")

    id: str | dict[str, str | int]
    property: str
    value: Any = None


class _Question(BaseModel):
    """The body of a request of Dash's scripts."""

    model_config = ConfigDict(strict=True, extra="ignore")

    output: str
    outputs: _Part | list[_Part]
    inputs: list[_Part]
    state: list[_Part] = []
    changed: Annotated[list[str], Field(alias="changedPropIds")] = []


def refuse_others(app: Dash) -> None:
    """Has the server of `app` answer 400 to what none of its pages asks, and 404 to a file of Dash
    that is not there.
    """

    server: flask.Flask = app.server

    @server.errorhandler(DependencyException)
    def not_there(_error: DependencyException) -> tuple[str, int]:
        return "The app has no such file.\n", 404

    @server.before_request
    def check() -> None:
        if flask.request.path != _PATH or flask.request.method != "POST":
            return
        try:
            question = _Question.model_validate_json(flask.request.get_data())
        except ValidationError:
            refuse()
        callback = app.callback_map.get(question.output)
        if callback is None or not flask.request.is_json:
            refuse()
        several = question.output.startswith("..")
        names = question.output[2:-2].split("...") if several else [question.output]
        outputs = question.outputs if isinstance(question.outputs, list) else [question.outputs]
        if several != isinstance(question.outputs, list) or not (
            _fit(outputs, [(name.rpartition(".")[0], name.rpartition(".")[2]) for name in names])
            and _fit(question.inputs, [(entry["id"], entry["property"]) for entry in callback["inputs"]])
            and _fit(question.state, [(entry["id"], entry["property"]) for entry in callback["state"]])
        ):
            refuse()


def _fit(parts: list[_Part], registered: list[tuple[str, str]]) -> bool:
    """True if these are the properties that were registered. A pattern's id is a table in JSON."""
    return len(parts) == len(registered) and all(
        part.property == property_
        and (
            part.id.keys() == json.loads(id_).keys()
            if isinstance(part.id, dict) and id_.startswith("{")
            else part.id == id_
        )
        for part, (id_, property_) in zip(parts, registered, strict=True)
    )


def refuse() -> NoReturn:
    """Ends the request."""
    flask.abort(flask.Response("No page of this app asks that; load the page again.\n", 400))


_PLACE = TypeAdapter(tuple[str, str])


def address_of(place: object) -> Address:
    """The address that a page is at: its path and what it searches for. Ends any other request."""
    try:
        return parse(*_PLACE.validate_python(place))
    except ValueError:  # too many fields are one, too
        refuse()


def table_of(value: object) -> dict[str, Any]:
    """`value` as a table; nothing is an empty one. Ends the request where it is something else."""
    if value is None:
        return {}
    return value if isinstance(value, dict) else refuse()


def range_of(view: dict[str, Any], axis: str) -> tuple[float, float] | None:
    """The part of `axis` in view, as Plotly tells it; None if it did not change."""
    limits = view.get(f"{axis}.range") or [view.get(f"{axis}.range[{end}]") for end in (0, 1)]
    try:
        low, high = sorted(float(end) for end in limits)
    except (TypeError, ValueError, OverflowError):
        return None
    return (low, high) if isfinite(low) and isfinite(high) and max(abs(low), abs(high)) < _MOST else None
