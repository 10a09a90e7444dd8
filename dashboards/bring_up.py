"""The page of `./lab first-run`: its steps, their figures, the wiring, the tools' versions."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from base.files.whole import write_bytes
from capture.checks.findings import BringUp, Figure
from capture.checks.wiring import Clip, svg
from dashboards.formatting import samplerate
from dashboards.page.templates import render


def _rows(figures: tuple[Figure, ...]) -> list[tuple[str, str]]:
    """The rows of a step's table: a name, and a text or a value with its unit, what it may be off,
    and of how many.
    """
    rows = []
    for figure in figures:
        words = figure.value if isinstance(figure.value, str) else f"{figure.value:,} {figure.unit}".rstrip()
        words += "" if figure.plus_minus is None else f" ± {figure.plus_minus:,}"
        rows.append((figure.name, words if figure.n is None else f"{words}, of {figure.n:,}"))
    return rows


def write(bring_up: BringUp, output: Path) -> Path:
    """Writes the whole page, which needs nothing else, and returns `output`. Equal bring-ups give
    equal text. Raises WriteError.
    """
    page = {
        "bring_up": bring_up,
        "drawing": Markup(svg([Clip(**row) for row in bring_up.wiring])),
        "figures": _rows,
        "left": bring_up.planned - len(bring_up.steps),
        "samplerate": samplerate(bring_up.samplerate_hz),
    }
    text = render("bring-up.html", page, {}, ("page.js",), figures=False)
    return write_bytes(output, text.encode())
