"""The page of one run: its verdict, what ran, and all its figures."""

from __future__ import annotations

from dashboards.figures.scenario_charts import scenario_charts
from dashboards.loaded.series import Series
from dashboards.pages.blocks import Block, Page, Prose


def run_page(one: Series) -> Page:
    """The page. Its figures are those of a scenario, with this run alone."""
    manifest = one.run.manifest
    verdict = f"{manifest.verdict}: {' '.join(manifest.reasons)}" if manifest.reasons else manifest.verdict
    lead = (f"{one.name} in {manifest.scenario} on {manifest.board}: {verdict}.".replace("..", "."),)
    blocks: list[Block] = [Prose("", one.run.notes)] if one.run.notes else []
    return Page("run", one.run.id, lead, (*blocks, *scenario_charts([one])))
