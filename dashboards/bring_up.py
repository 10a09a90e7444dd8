"""The page of `./lab first-run`: its steps, their figures, the wiring, the tools' versions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from base.files.whole import write_bytes
from capture.checks.findings import BringUp, Figure
from capture.checks.wiring import Clip, Place, svg
from dashboards.formatting import samplerate
from dashboards.page.templates import without_figures


@dataclass(frozen=True)
class _Row:
    """A figure as the page has it: its value with its unit, what it may be off, of how many."""

    name: str
    value: str
    plus_minus: str = ""
    count: str = ""
    is_text: bool = False


@dataclass(frozen=True)
class _Page:
    bring_up: BringUp
    drawing: Markup

    @property
    def left(self) -> int:
        """How many steps were not reached."""
        return self.bring_up.planned - len(self.bring_up.steps)

    @property
    def samplerate(self) -> str:
        return samplerate(self.bring_up.samplerate_hz)

    def figures(self, figures: tuple[Figure, ...]) -> Iterator[_Row]:
        """The rows of a step's table."""
        for figure in figures:
            if isinstance(figure.value, str):
                yield _Row(figure.name, figure.value, is_text=True)
                continue
            off = "" if figure.plus_minus is None else f"± {figure.plus_minus:,} {figure.unit}"
            count = "" if figure.n is None else f"of {figure.n:,}"
            yield _Row(figure.name, f"{figure.value:,} {figure.unit}".rstrip(), off, count)


def write(bring_up: BringUp, output: Path) -> Path:
    """Writes the page and returns `output`. Raises WriteError."""
    return write_bytes(output, html(bring_up).encode())


def html(bring_up: BringUp) -> str:
    """The whole page, which needs nothing else. Equal bring-ups give equal text."""
    picture = Markup(svg([_clip(dict(row)) for row in bring_up.wiring]))
    return without_figures(
        "bring-up.html", _Page(bring_up, picture), ("theme.js", "bring-up.js"), ("bring-up.css",)
    )


def _clip(row: dict[str, str]) -> Clip:
    input_name = row.pop("input")
    return Clip(input_name, Place(**row))
