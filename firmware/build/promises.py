"""What CMake is told of an allocator, and what allocators may promise. heap/catalogue.toml says
what each word means and who promises it.

CMake runs this with whatever Python it finds, so it needs only the standard library:
`python -m firmware.build.promises tlsf` prints tlsf's row in the words of heap/build.cmake. The
catalogue itself is checked in catalogue.py.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

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

CATALOGUE = Path(__file__).resolve().parents[1] / "heap" / "catalogue.toml"


def build_words(
    knobs: Mapping[str, int],
    locking: Sequence[str],
    promises: Collection[str],
    smallest_payload: int | None = None,
) -> list[str]:
    """The lines of CMake that say so of an allocator; with no locking it works under all."""
    words = [f"tailscope_knob({name} {value})" for name, value in knobs.items()]
    words += [f"tailscope_locking({' '.join(locking)})"] if locking else []
    words += [f"tailscope_smallest_payload({smallest_payload})"] if smallest_payload else []
    in_order = " ".join(promise for promise in PROMISES if promise in promises)
    return [*words, f'tailscope_promises("{in_order}")']


if __name__ == "__main__":
    try:
        row: Mapping[str, Any] = tomllib.loads(CATALOGUE.read_text())[sys.argv[1]]
        # The block layer keeps all for an index.
        promised = PROMISES if row["kind"] == "index" else row["promises"]
        lines = build_words(
            row.get("knobs", {}), row.get("locking", ()), promised, row.get("smallest_payload")
        )
        print(*lines, sep="\n")
    except (IndexError, LookupError, TypeError, ValueError) as error:
        sys.exit(
            f"Usage: python -m firmware.build.promises ALLOCATOR, an id of heap/catalogue.toml ({error})."
        )
