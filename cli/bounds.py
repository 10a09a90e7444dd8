"""`./lab bounds`: how long one's own program can hold interrupts off, from its machine code."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from base.board_options import BoardOptions
from cli.shell import shared, under_way
from cli.shell.declare import argument, declare, option
from cli.shell.judging import Judging, judging
from cli.shell.values import FILE, FOLDER, INSTANT, OUTPUT, choice, whole

_COUNT = whole(0, 1 << 16)


@declare("Your own firmware, as it is")
@argument("elf", FILE, "a program for the virtual Nucleo, as the linker wrote it")
@option("--until", INSTANT, "how long to run it for what is seen: 100ms, 2s", default="1s")
@option("--loops", "loops_file", FILE, "a TOML file: how often loops go round, and what is called")
@option("--tasks", _COUNT, "how many tasks there are at the most: loops of the kernel go by it")
@option("--priorities", _COUNT, "the same of its priorities")
@option("--timers", _COUNT, "the same of timers that run at once")
@option("--ticks", _COUNT, "the same of ticks that come while the scheduler is locked")
@option(
    "--wait-states",
    whole(0, 15),
    "of the flash; when not given, those that FLASH_ACR has at the end of the run",
)
@option(
    "--flash",
    choice("seen", "worst"),
    "its prefetch and caches: as FLASH_ACR has them at the end of the run, or no help at all",
    default="seen",
)
@option(
    "--pointers",
    choice("any", "sram"),
    "what pointers go to of which nothing is known; with sram the figures are lower, if it is so",
    default="any",
)
@option(
    "--explain",
    "the path that a bound is of: each instruction, how often, its share; without a word the "
    "longest, else the n-th longest, or that at a function, file.c:12 or an address",
    metavar="[ROW|PLACE]",
    is_flag=False,
    flag_value="1",
)
@option("--output", OUTPUT, "an HTML file to write: bounds, priorities, the longest path")
@option(
    "--evidence",
    FOLDER,
    "a folder to write, for who must defend a bound: inputs, versions, reports, what is presumed",
)
@option("--all", "everything", "list every section, and all that is missing")
@shared.kernel
@shared.own_program
@judging
def command(
    elf: Path,
    explain: str | None,
    output: Path | None,
    evidence: Path | None,
    everything: bool,
    judging: Judging,
    until: str,
    kernel: str,
    loops_file: Path | None,
    tasks: int | None,
    priorities: int | None,
    timers: int | None,
    ticks: int | None,
    wait_states: int | None,
    flash: str,
    pointers: str,
    **board: Unpack[BoardOptions],
) -> int:
    """Bound how long your own program can hold interrupts off, run or not, from its machine code.

    The exit status is 0 if every section and handler has a bound, or is as limits and baseline have
    it; 1 if it is worse, or a run took longer than a bound; 2 if one has none, and what is missing
    is listed, or if the program, a file or an option is refused.
    For example: ./lab bounds my.elf --loops loops.toml --limit any=1200
    """
    from analysis.program.bounds import evidence as folder
    from analysis.program.bounds import measure, text
    from analysis.program.subject import Subject
    from base.files.whole import write_bytes
    from cli.shell.project import version
    from simulator.program import user_program

    judging.begin(text.COMMAND, text.BOUND_KINDS)
    if evidence:
        folder.check(evidence)
    counts = {"tasks": tasks, "priorities": priorities, "timers": timers, "ticks": ticks}
    with under_way.shown() as tell:
        report = measure.bounds(
            Subject.of(user_program(elf, **board), until, kernel=kernel),
            tell,
            loops_file=loops_file,
            wait_states=wait_states,
            pointers=pointers,
            flash=flash,
            counts={name: number for name, number in counts.items() if number is not None},
        )
    path = None if explain is None else measure.explain(report, explain)
    if output or evidence:
        from dashboards.programs import of_bounds

        shown = path
        if shown is None and report.bounded:
            shown = measure.explain(report, measure.LONGEST)
        page = of_bounds(report, shown).html().encode()
        if output:
            write_bytes(output, page)
        if evidence:
            typed = {
                "until": until,
                "kernel": kernel,
                "loops": loops_file,
                "wait-states": wait_states,
                "flash": flash,
                "pointers": pointers,
                **counts,
                **{name.replace("_", "-"): value for name, value in board.items()},
            }
            folder.write(report, shown, evidence, typed=typed, tool=version(), page=page)
    judging.judge(text.subject(report))
    status = judging.show(
        lambda: text.as_json(report, path),
        lambda: text.as_text(report, everything, path),
        (output, evidence),
        2 if report.missing else 0,
    )
    return 1 if report.violations else status
