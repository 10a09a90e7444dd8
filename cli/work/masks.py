"""`./lab masks`: a program's masks measured, with progress, and the files that are asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from analysis.program.masks.document import folded
from analysis.program.masks.measure import MaskReport, measure
from analysis.program.masks.timeline import timeline
from base.files.whole import write_bytes
from cli.work import progress
from dashboards import masks
from simulator.program import user_program


def run(
    elf: str,
    *,
    until: str,
    start: str,
    kernel: str,
    explain: bool,
    output: Path | None,
    folded_file: Path | None,
    perfetto: Path | None,
    **board: Any,
) -> tuple[MaskReport, str]:
    """Measures the program in the file `elf`, and writes each file that is named.

    Returns the report, and a sentence that says what the timeline folded; empty if it folded
    nothing. `board` are the words of simulator.program.user_program(). Raises TailscopeError.
    """
    program = user_program(elf, **board)
    with progress.shown() as tell:
        found = measure(program, until, explain, tell, start=start, kernel=kernel)
    if output:
        masks.write(found, output)
    if folded_file:
        write_bytes(folded_file, folded(found).encode())
    return found, _drawn(found, perfetto) if perfetto else ""


def _drawn(found: MaskReport, file: Path) -> str:
    made = timeline(found)
    said = made.draw()
    made.write(file)
    return said
