"""One run: its verdict and reasons, its numbers, its worst instants, and its manifest."""

from __future__ import annotations

import json

from dashboards.figures.agreement import agreement
from dashboards.figures.heap_state import heap_state
from dashboards.figures.waveform import worst_critical_section, worst_interrupt
from dashboards.loaded.bounds import bounds_sentence
from dashboards.loaded.runs import LoadedRun
from dashboards.loaded.series import Series
from dashboards.pages.blocks import Page, Prose, Verbatim, present
from dashboards.tables.comparison import comparison


def run(one: Series, figures: bool = True) -> Page:
    """The page of one run; without `figures` where other pages have them already."""
    told = _sentences(one.run)
    drawn = (worst_critical_section, worst_interrupt, heap_state, agreement) if figures else ()
    manifest = json.dumps(one.run.manifest.as_json(), indent=2, ensure_ascii=False)
    blocks = present(
        Prose("What to know", told, listed=True) if told else None,
        comparison([one]),
        *(figure(one) for figure in drawn),
        Verbatim("run.json", manifest),
    )
    manifest_of = one.run.manifest
    lead = (
        f"{one.run.id} is {manifest_of.verdict}.",
        f"{manifest_of.scenario} with {manifest_of.configuration} on {manifest_of.board}.",
    )
    return Page("run", one.name, lead, blocks)


def _sentences(run: LoadedRun) -> tuple[str, ...]:
    """Where its operations are from, why it is not complete, what it lacks, and its warnings."""
    bound = bounds_sentence(run)
    return (
        *((run.origin,) if run.origin else ()),
        *run.manifest.reasons,
        *run.notes,
        *run.manifest.warnings,
        *((f"{bound}.",) if bound else ()),
    )
