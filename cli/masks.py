"""`./lab masks`: how long one's own program holds interrupts off."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from cli.shell import shared
from cli.shell.declare import argument, declare, option
from cli.shell.judging import Judging, judging
from cli.shell.values import FILE, INSTANT, OUTPUT

if TYPE_CHECKING:
    from simulator.program import ProgramOptions


@declare(section="Your own firmware, as it is")
@argument("elf", type=FILE, help="a program for the virtual Nucleo, as the linker wrote it")
@option(
    "--until", type=INSTANT, default="1s", help="how long to run it from reset: 100ms, 2s or cycles:8400000"
)
@shared.begin
@shared.kernel
@option("--explain", is_flag=True, help="the instructions of the longest interval of each kind, too")
@option("--output", type=OUTPUT, help="an HTML file to write: places, curves, timeline, priorities")
@shared.own_program
@judging
def command(
    elf: Path,
    until: str,
    start: str | None,
    kernel: str,
    explain: bool,
    output: Path | None,
    judging: Judging,
    **board: Unpack[ProgramOptions],
) -> int:
    """Show how long your own program holds interrupts off, and who does; hold it to limits.

    The exit status is 0 if the program ran to its end, and is within limits and baseline where they
    are given; 1 if it stopped or hangs, or is not within them; 2 where that cannot be said.
    For example: ./lab masks my.elf --limit basepri=1200 --baseline masks.toml
    """
    from analysis.program import parts
    from analysis.program.masks import text
    from analysis.program.masks.measure import measure
    from analysis.program.subject import START, Subject
    from cli.shell import under_way
    from simulator.program import user_program

    subject = Subject.of(user_program(elf, **board), until, kernel=kernel, start=start or START)
    judging.begin(text.COMMAND, text.MASK_KINDS)
    with under_way.shown() as tell:
        report = measure(subject, explain, tell)
    if output:
        from dashboards.programs import of_masks

        of_masks(report).write(output)
    judging.judge(text.subject(report))
    judging.show(
        lambda: parts.as_json(report), lambda: text.as_text(report), [f"file: {output}"] if output else []
    )
    return int(not report.complete) if judging.exit_status is None else judging.exit_status
