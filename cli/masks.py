"""`./lab masks`: how long one's own program holds interrupts off."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from cli.shell import shared
from cli.shell.declare import argument, declare, option
from cli.shell.judging import Judging, judging
from cli.shell.values import FILE, INSTANT, OUTPUT, OptionError

if TYPE_CHECKING:
    from simulator.program import ProgramOptions


@declare(section="Your own firmware, as it is")
@argument(
    "elf",
    type=FILE,
    nargs=-1,
    required=True,
    help="a program for the virtual Nucleo, as the linker wrote it; of several builds one table",
)
@option(
    "--until", type=INSTANT, default="1s", help="how long to run it from reset: 100ms, 2s or cycles:8400000"
)
@shared.begin
@shared.kernel
@option("--explain", is_flag=True, help="the instructions of the longest interval of each kind, too")
@option("--output", type=OUTPUT, help="an HTML file to write: places, curves, timeline, priorities")
@option(
    "--folded",
    type=FILE,
    help="a file for flame graph tools to write: a line for each call stack, with its cycles",
)
@option(
    "--perfetto",
    type=FILE,
    help="a timeline to write, which ui.perfetto.dev opens; compressed if its name ends in .gz",
)
@shared.own_program
@judging
def command(
    elf: tuple[Path, ...],
    until: str,
    start: str | None,
    kernel: str,
    explain: bool,
    output: Path | None,
    folded: Path | None,
    perfetto: Path | None,
    judging: Judging,
    **board: Unpack[ProgramOptions],
) -> int:
    """Show how long your own program holds interrupts off, and who does; hold it to limits.

    The exit status is 0 if the program ran to its end, and is within limits and baseline where they
    are given; 1 if it stopped or hangs, or is not within them; 2 where that cannot be said.
    For example: ./lab masks my.elf --limit basepri=1200 --baseline masks.toml, or to compare two
    builds: ./lab masks o2.elf os.elf
    """
    from analysis.program import parts
    from analysis.program.masks import text
    from analysis.program.masks.measure import measure
    from analysis.program.subject import START, Subject
    from base.files.whole import write_bytes
    from cli.shell import under_way
    from simulator.program import user_program

    writes = explain or output or folded or perfetto
    if len(elf) > 1 and (writes or judging.of_one):
        raise OptionError("Several builds give one table: only --markdown and --json go with them.")
    subjects = [
        Subject.of(user_program(file, **board), until, kernel=kernel, start=start or START) for file in elf
    ]
    judging.begin(text.COMMAND, text.MASK_KINDS)
    with under_way.shown() as tell:
        reports = [measure(subject, explain, tell) for subject in subjects]
    measured = [text.subject(report) for report in reports]
    report, complete = reports[0], all(report.complete for report in reports)
    if len(reports) > 1:
        rows = text.side_by_side(measured)
        part = text.of_builds([build.name for build in measured], rows)
        judging.markdown = parts.as_markdown(part)
        judging.write_markdown()
        judging.show(
            lambda: {"builds": list(map(parts.as_json, reports)), "rows": rows},
            lambda: parts.as_text([line for each in reports for line in text.opening(each)], [part], True),
        )
        return int(not complete)
    if output:
        from dashboards.programs import of_masks

        write_bytes(output, of_masks(report).encode())
    if folded:
        write_bytes(folded, text.folded(report).encode())
    lines = [f"file: {file}" for file in (output, folded, perfetto) if file]
    if perfetto:
        from analysis.program.masks.timeline import timeline

        drawn = timeline(report)
        lines += filter(None, [drawn.draw()])
        drawn.write(perfetto)
    judging.judge(measured[0])
    judging.show(lambda: parts.as_json(report), lambda: text.as_text(report), lines)
    return int(not complete) if judging.exit_status is None else judging.exit_status
