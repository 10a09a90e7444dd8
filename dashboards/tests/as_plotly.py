"""A figure by Plotly's own objects, the slow way: they refuse what its script does not know."""

from __future__ import annotations

import json

import plotly.graph_objects as go

from dashboards.figures.figure import Figure


def as_plotly(figure: Figure) -> go.Figure:
    """The figure, checked whole; it must be written as those objects write it."""
    made = go.Figure(figure.to_dict())
    assert json.loads(made.to_json()) == figure.to_dict()
    return made
