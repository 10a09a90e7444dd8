"""What allocators may promise. heap/catalogue.toml says what each word means and who promises it.

CMake runs this with whatever Python it finds, so it needs only the standard library:
`python -m firmware.build.promises tlsf` prints what tlsf promises, words separated by spaces.
The catalogue itself is checked in catalogue.py.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping
from typing import Any, Literal, get_args

from base.paths import ROOT

Promise = Literal[
    "frees",
    "checks_frees",
    "merges",
    "reallocates",
    "aligns",
    "counts_free",
    "knows_largest",
    "counts_probes",
    "checks_heap",
    "tells_usable",
    "reuses_holes",
    "exact_overhead",
    "shrinks",
]

PROMISES: tuple[Promise, ...] = get_args(Promise)

CATALOGUE = ROOT / "firmware" / "heap" / "catalogue.toml"


def told(allocator: str, tables: Mapping[str, Any]) -> tuple[Promise, ...]:
    """What an allocator promises, in the order of PROMISES. The block
    layer keeps all for an index.
    """
    table = tables[allocator]
    return PROMISES if table["kind"] == "index" else tuple(p for p in PROMISES if p in table["promises"])


if __name__ == "__main__":
    try:
        print(*told(sys.argv[1], tomllib.loads(CATALOGUE.read_text())))
    except (IndexError, LookupError, TypeError, ValueError) as error:
        sys.exit(
            f"Usage: python -m firmware.build.promises ALLOCATOR, an id of heap/catalogue.toml ({error})."
        )
