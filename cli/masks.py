"""`./lab masks`: a program's masks measured, with progress, and the files that are asked for."""

from __future__ import annotations

import re
from pathlib import Path

from analysis.errors import MasksError
from analysis.program.masks.document import folded
from analysis.program.masks.measure import MaskReport, measure
from analysis.program.masks.timeline import timeline
from base.files.whole import write_bytes
from cli import progress
from dashboards import masks
from simulator.program import user_program

_INSTANT = re.compile(r"(\d{1,15}(ns|us|ms|s)|cycles:\d{1,15})")


def run(
    elf: str,
    *,
    until: str,
    explain: bool,
    chip: str,
    hse: str,
    gaps: bool,
    semihosting: bool,
    output: str,
    folded_file: str,
    perfetto: str,
) -> MaskReport:
    """Measures the program in the file `elf`, and writes each file whose name is not empty.

    Raises TailscopeError.
    """
    program = user_program(elf, chip=chip, hse=hse, gaps=gaps, semihosting=semihosting)
    _check(until)
    with progress.shown() as tell:
        found = measure(program, until, explain, tell)
    if output:
        masks.write(found, Path(output))
    if folded_file:
        write_bytes(Path(folded_file), folded(found).encode())
    if perfetto:
        timeline(found).write(Path(perfetto))
    return found


def _check(until: str) -> None:
    if not _INSTANT.fullmatch(until) or not int(re.sub(r"\D", "", until)):
        raise MasksError(
            f"--until {until} is neither a time nor a cycle: write for example 100ms, 2s or cycles:8400000."
        )
