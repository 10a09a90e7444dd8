"""`python -m studies.tables NAME…` measures results of the pages again, or all without a name, and
writes each into docs/results.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence

from base.files import results
from base.paths import ROOT
from studies.tables import allocators, boards, timing_report

Row = Sequence[object]

RESULTS: Mapping[str, tuple[Sequence[str], Callable[[], Iterable[Row]]]] = {
    "boards": (boards.FACTS, boards.facts),
    "board-figures": (boards.FIGURES, boards.figures),
    "footprint": (allocators.FOOTPRINT, allocators.footprints),
    "placements": (allocators.PLACED, lambda: map(allocators.placed, allocators.placeable())),
    "timing": (timing_report.HEADINGS, lambda: (row.cells for row in timing_report.rows())),
    "tlsf": (allocators.TLSF, lambda: map(allocators.tlsf, (*allocators.OURS, *allocators.OTHERS))),
}

if __name__ == "__main__":
    for name in sys.argv[1:] or RESULTS:
        headings, rows = RESULTS[name]
        print(results.write(name, headings, rows()).relative_to(ROOT), flush=True)
