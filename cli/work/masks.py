"""`./lab masks`: a program's masks measured, with progress, and the files that are asked for."""

from __future__ import annotations

from pathlib import Path

from analysis.program.masks.document import folded
from analysis.program.masks.measure import MaskReport, measure
from analysis.program.masks.timeline import timeline
from base.files.whole import write_bytes
from cli.work import progress
from dashboards import masks
from simulator.program import UserProgram


def run(program: UserProgram, *, until: str, start: str, kernel: str, explain: bool = False) -> MaskReport:
    """Measures the program, with progress. Raises TailscopeError."""
    with progress.shown() as tell:
        return measure(program, until, explain, tell, start=start, kernel=kernel)


def write_files(
    report: MaskReport, output: Path | None, folded_file: Path | None, perfetto: Path | None
) -> list[str]:
    """Writes each file that is named. Returns a line for each, and a sentence that says what the
    timeline folded, if it did.
    """
    if output:
        masks.write(report, output)
    if folded_file:
        write_bytes(folded_file, folded(report).encode())
    lines = [f"file: {file}" for file in (output, folded_file, perfetto) if file]
    if perfetto:
        drawn = timeline(report)
        lines += filter(None, [drawn.draw()])
        drawn.write(perfetto)
    return lines
