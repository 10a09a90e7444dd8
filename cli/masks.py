"""`./lab masks`: how long one's own program holds interrupts off."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from base.board_options import BoardOptions
from cli.shell import shared, under_way
from cli.shell.declare import argument, declare, option
from cli.shell.judging import Judging, judging
from cli.shell.values import FILE, INSTANT, OUTPUT, OptionError


@declare("Your own firmware, as it is")
@argument(
    "elf",
    FILE,
    "a program for the virtual Nucleo, as the linker wrote it; of several builds one table",
    nargs=-1,
    required=True,
)
@option("--until", INSTANT, "how long to run it from reset: 100ms, 2s or cycles:8400000", default="1s")
@shared.begin
@shared.kernel
@option("--explain", "the instructions of the longest interval of each kind, too")
@option("--output", OUTPUT, "an HTML file to write: places, curves, timeline, priorities")
@option("--folded", OUTPUT, "a file for flame graphs: each call stack, with its cycles")
@option("--perfetto", OUTPUT, "a timeline for ui.perfetto.dev; compressed if it ends in .gz")
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
    **board: Unpack[BoardOptions],
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
    from simulator.program import user_program

    of_one = (explain, output, folded, perfetto, judging.limit, judging.baseline, judging.allow)
    if len(elf) > 1 and any((*of_one, judging.junit_file, judging.markdown_file, judging.bencher_file)):
        raise OptionError("Several builds give one table: only --json goes with them.")
    subjects = [
        Subject.of(user_program(file, **board), until, kernel=kernel, start=start or START) for file in elf
    ]
    judging.begin(text.COMMAND, text.MASK_KINDS)
    with under_way.shown() as tell:
        reports = [measure(subject, explain, tell) for subject in subjects]
    report = reports[0]
    if len(reports) > 1:
        rows = text.side_by_side(list(map(text.subject, reports)))
        names = [subject.name for subject in subjects]
        return judging.show(
            lambda: {"builds": list(map(parts.as_json, reports)), "rows": rows},
            lambda: parts.as_text(
                [line for each in reports for line in text.opening(each)], [text.of_builds(names, rows)], True
            ),
            usual=int(not all(report.complete for report in reports)),
        )
    if output:
        from dashboards.programs import of_masks

        of_masks(report).write(output)
    if folded:
        write_bytes(folded, text.folded(report).encode())
    if perfetto:
        from analysis.program.masks.timeline import add
        from base.timeline import Timeline

        add(made := Timeline(), report)
        made.write(perfetto)
    judging.judge(text.subject(report))
    return judging.show(
        lambda: parts.as_json(report),
        lambda: text.as_text(report),
        (output, folded, perfetto),
        int(not report.complete),
    )
