"""docs/how-to/traces.md against the recordings that are here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from base.paths import ROOT
from scenarios import catalogue
from scenarios import trace as scenarios_trace
from scenarios.trace import FREE

ROW = re.compile(r"\| (recorded_\w+) \| .* \| ([\d,]+) \| ([\d,]+) bytes in ([\d,]+) blocks \| (\d+) \|")
ROWS = ROW.findall((ROOT / "docs" / "how-to" / "traces.md").read_text(encoding="utf-8"))

pytestmark = pytest.mark.docs


def test_the_table_has_every_recording() -> None:
    assert [row[0] for row in ROWS] == [name for name in catalogue.names() if name.startswith("recorded_")]


@pytest.mark.parametrize(("name", "operations", "live_bytes", "blocks", "scale"), ROWS)
def test_a_row_tells_what_the_file_has(
    name: str, operations: str, live_bytes: str, blocks: str, scale: str
) -> None:
    scenario = catalogue.load(name)
    trace = scenarios_trace.read(Path(str(scenario.parameters["trace"])))
    live: dict[int, int] = {}
    most_bytes = most_blocks = 0
    for kind, slot, size, _ in trace.operations.tolist():
        if kind == FREE:
            del live[slot]
        else:
            live[slot] = size
        most_bytes = max(most_bytes, sum(live.values()))
        most_blocks = max(most_blocks, len(live))
    assert operations == f"{len(trace.operations):,}"
    assert (live_bytes, blocks) == (f"{most_bytes:,}", f"{most_blocks:,}")
    assert int(scale) == scenario.parameters["scale"]
