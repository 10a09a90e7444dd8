"""The page of `./lab first-run`: its steps, their figures, the wiring, the tools' versions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from base.files.whole import write_bytes
from capture.checks.findings import BringUp, Figure
from capture.checks.wiring import Clip, svg
from dashboards.formatting import samplerate
from dashboards.page.templates import render


@dataclass(frozen=True)
class _Page:
    bring_up: BringUp

    @property
    def drawing(self) -> Markup:
        return Markup(svg([Clip(**row) for row in self.bring_up.wiring]))

    @property
    def left(self) -> int:
        """How many steps were not reached."""
        return self.bring_up.planned - len(self.bring_up.steps)

    @property
    def samplerate(self) -> str:
        return samplerate(self.bring_up.samplerate_hz)

    @staticmethod
    def figures(figures: tuple[Figure, ...]) -> list[tuple[str, str]]:
        """The rows of a step's table: a name, and a text or a value with its unit, what it may be
        off, and of how many.
        """
        rows = []
        for figure in figures:
            words = (
                figure.value if isinstance(figure.value, str) else f"{figure.value:,} {figure.unit}".rstrip()
            )
            words += "" if figure.plus_minus is None else f" ± {figure.plus_minus:,}"
            rows.append((figure.name, words if figure.n is None else f"{words}, of {figure.n:,}"))
        return rows


def write(bring_up: BringUp, output: Path) -> Path:
    """Writes the whole page, which needs nothing else, and returns `output`. Equal bring-ups give
    equal text. Raises WriteError.
    """
    text = render("bring-up.html", _Page(bring_up), {}, ("page.js",), figures=False)
    return write_bytes(output, text.encode())
