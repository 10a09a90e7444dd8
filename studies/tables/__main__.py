"""`python -m studies.tables NAME…` measures results of the pages again, or all without a name, and
writes each into docs/results.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence

from base.files import results
from base.paths import ROOT
from studies.tables import boards, footprints, placements, timing_report, worst_cases

Row = Sequence[object]

RESULTS: Mapping[str, tuple[Sequence[str], Callable[[], Iterable[Row]]]] = {
    "boards": (boards.FACTS, boards.facts),
    "board-figures": (boards.FIGURES, boards.figures),
    "footprint": (footprints.HEADINGS, footprints.rows),
    "placements": (placements.HEADINGS, lambda: map(placements.row, placements.allocators())),
    "timing": (timing_report.HEADINGS, lambda: (row.cells for row in timing_report.rows())),
    "tlsf": (worst_cases.HEADINGS, lambda: map(worst_cases.row, worst_cases.ALLOCATORS)),
}

if __name__ == "__main__":
    for name in sys.argv[1:] or RESULTS:
        headings, rows = RESULTS[name]
        print(results.write(name, headings, rows()).relative_to(ROOT), flush=True)
