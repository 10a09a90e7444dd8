"""Why a sample took so long, as far as `./lab explain` stored it; page/why.js draws it."""

from __future__ import annotations

from typing import Any

from dash import dcc, html

from dashboards.loaded.runs import LoadedRun
from dashboards.page.explanations import explanations

EXPLAINED, SENTENCES, STRIPS, WHY = "explained", "sentences", "strips", "why"
"""What the browser draws from, and where: on top, below the waveform, and at the end."""


def packed(run: LoadedRun, key: str) -> list[dict[str, Any]]:
    """What `./lab explain` stored of the sample `key` itself; see page/explanations.py."""
    return explanations(run).get(key, [])


def sentences() -> Any:
    """Room for the sentences on top."""
    return html.Div(id=SENTENCES)


def strips() -> Any:
    """Room for what lies below the waveform, on its time axis."""
    return html.Div(id=STRIPS, className="strips")


def explained(run: LoadedRun, several: list[dict[str, Any]]) -> list[Any]:
    """Room for the rest, and the data of all three; or how to get them."""
    content: list[Any] = [dcc.Store(id=EXPLAINED, data=several), html.Div(id=WHY)]
    if not several:
        words = f"Heap, call stack and instructions of a maximum come from ./lab explain {run.folder.name}."
        content.append(html.P(words, className="hint"))
    return content
