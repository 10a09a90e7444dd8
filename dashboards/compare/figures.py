"""The page's figure: by how much each critical section changed, over the operations."""

from __future__ import annotations

import plotly.graph_objects as go
import polars as pl

from analysis.compare.compared import Compared
from analysis.compare.operations import join, met_otherwise
from dashboards.figures.chart import Chart, style
from dashboards.loaded.series import MUTED

_HEIGHT_PX = 380
_COLOUR = "#0072b2"
_EXPLANATION = (
    "B less A, by the cycle counter: above 0 the section takes longer in B. Open circles are operations that "
    "more or fewer interrupts met in B than in A: there the difference need not be the code's."
)


def charts(compared: Compared) -> list[Chart]:
    """The figure, where the runs have operations in common that changed."""
    if compared.operations is None or not compared.operations.changed:
        return []
    change = pl.col("dwt_cycles_of_b").cast(pl.Int64) - pl.col("dwt_cycles_of_a").cast(pl.Int64)
    table = join(compared.a, compared.b).select("seq", change=change, otherwise=met_otherwise())
    table = table.drop_nulls("change")
    figure = go.Figure()
    for name, otherwise, colour, symbol in (
        ("met by as many interrupts", False, _COLOUR, "circle"),
        ("met by more or fewer", True, MUTED, "circle-open"),
    ):
        part = table.filter(pl.col("otherwise") == otherwise)
        figure.add_scatter(
            x=part["seq"].to_list(),
            y=part["change"].to_list(),
            name=name,
            mode="markers",
            marker={"color": colour, "size": 5, "symbol": symbol},
            hovertemplate=f"operation %{{x:,}}: %{{y:+,}} cycles<extra>{name}</extra>",
        )
    style(figure, _HEIGHT_PX)
    figure.update_layout(margin={"t": 40}, showlegend=True)
    figure.update_xaxes(title_text="operation")
    figure.update_yaxes(title_text="B less A (cycles)")
    counted = f"n = {table.height:,} operations · A {_name(compared, 'a')} · B {_name(compared, 'b')}"
    title = "How much each critical section changed"
    return [Chart("sections", title, counted, _EXPLANATION, compared.doubts, figure)]


def _name(compared: Compared, side: str) -> str:
    run = compared.a if side == "a" else compared.b
    return run.stored.folder.resolve().name
