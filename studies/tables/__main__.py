"""`python -m studies.tables NAME…` measures results of the pages again, or all without a name, and
writes each into docs/results.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence

from base.files import results
from base.paths import ROOT
from studies.adversary import study
from studies.tables import allocators, boards

Row = Sequence[object]

RESULTS: Mapping[str, tuple[Sequence[str], Callable[[], Iterable[Row]]]] = {
    "adversary-space": (study.SPACE_COLUMNS, lambda: study.space_cells(study.rows_of("fragmentation"))),
    "adversary-time": (study.TIME_COLUMNS, lambda: study.time_cells(study.rows_of("allocate", "free"))),
    "boards": (boards.FACTS, boards.facts),
    "footprint": (allocators.FOOTPRINT, allocators.footprints),
    "placements": (allocators.PLACED, lambda: map(allocators.placed, allocators.placeable())),
    "tlsf": (allocators.TLSF, lambda: map(allocators.tlsf, (*allocators.OURS, *allocators.OTHERS))),
}

if __name__ == "__main__":
    for name in sys.argv[1:] or RESULTS:
        headings, rows = RESULTS[name]
        print(results.write(name, headings, rows()).relative_to(ROOT), flush=True)
