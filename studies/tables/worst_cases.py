"""The worst critical sections of the TLSFs side by side.

`python -m studies.tables.worst_cases` prints the table of docs/reference/tlsf.md. All have the same
compiler options (`-O2`), facade, region, scenarios and timing. There are no interrupts, so every
cycle is the allocator's own.
"""

from __future__ import annotations

from dataclasses import replace

from scenarios import catalogue
from scenarios.stimulus import Stimulus
from studies.tables.critical_sections import measure, worst

OURS = ("tlsf_compact", "tlsf")
OTHERS = ("tlsf_crate", "tlsf_conte", "rlsf")
SCENARIOS = ("mem_frag", "mem_stress")
KINDS = ("A", "F")
_QUIET = Stimulus("none", 0, 0)


def worst_cycles(allocator: str, art: bool) -> tuple[int, int]:
    """The most cycles of an allocation's and of a free's critical section, over both scenarios."""
    images = [replace(catalogue.load(name), stimulus=_QUIET).compile().image for name in SCENARIOS]
    sections = [section for image in images for section in measure(allocator, image, art)]
    allocation, free = (worst(sections, kind).cycles for kind in KINDS)
    return allocation, free


def row(allocator: str) -> str:
    """One line of the table."""
    cycles = [*worst_cycles(allocator, art=True), *worst_cycles(allocator, art=False)]
    return f"| {allocator} | " + " | ".join(map(str, cycles)) + " |"


def main() -> None:
    """Prints the table as Markdown."""
    print("| worst, cycles | allocate, ART on | free, ART on | allocate, ART off | free, ART off |")
    print("|---|---:|---:|---:|---:|")
    for allocator in (*OURS, *OTHERS):
        print(row(allocator), flush=True)


if __name__ == "__main__":
    main()
