"""`./lab latency`: how long an interrupt of one's own program waits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from cli.shell import shared
from cli.shell.declare import argument, declare, json_option, option
from cli.shell.judging import Judging, judging
from cli.shell.values import FILE, INSTANT, WHOLE, Choice, Whole

if TYPE_CHECKING:
    from simulator.program import ProgramOptions

MODES = ("sweep", "random")


@declare(section="Your own firmware, as it is")
@argument("elf", type=FILE, help="your program, the ELF file that the linker wrote")
@option(
    "--irq",
    metavar="NAME",
    help="the interrupt to pend: TIM3, USART2, EXTI15_10, a number of the chip's vector table, SysTick",
)
@option(
    "--mode",
    type=Choice(*MODES),
    default="sweep",
    help="sweep (pend at every cycle, or every n-th) or random",
)
@option(
    "--section",
    metavar="FROM..TO",
    multiple=True,
    help="'a..b', or 'f..' from entry to exit; each a function, f+0x12, 0xADDRESS or file.c:12",
)
@option(
    "--until",
    type=INSTANT,
    default="100ms",
    help="the end: a time since reset such as 100ms, or a cycle",
)
@shared.begin
@shared.kernel
@option(
    "--around",
    metavar="FUNCTION",
    help="pend during the longest call of this function, and 64 cycles before and after it",
)
@option(
    "--every",
    type=WHOLE,
    help="pend at each n-th cycle; when not given, so that there are at most 100,000",
)
@option("--pends", type=WHOLE, help="of --mode random: how many; 2,000 when not given")
@option("--seed", type=WHOLE, help="of --mode random; 1 when not given")
@option(
    "--enable",
    type=Whole(0, 15),
    help="let the board enable the interrupt when it pends it, at this priority, 0 to 15",
)
@option("--explain", is_flag=True, help="list what the longest wait or section spent its cycles on")
@shared.own_program
@judging
@json_option
def command(
    elf: Path,
    irq: str | None,
    section: tuple[str, ...],
    mode: str,
    until: str,
    around: str | None,
    every: int | None,
    pends: int | None,
    seed: int | None,
    enable: int | None,
    explain: bool,
    start: str | None,
    kernel: str,
    as_json: bool,
    judging: Judging,
    **board: Unpack[ProgramOptions],
) -> int:
    """Pend an interrupt of your program at every cycle, and say how long it waits, and why.

    The exit status is 0 if every pend was taken, and all is within limits and baseline where they
    are given; 1 if not; 2 where that cannot be said.
    For example: ./lab latency my.elf --irq TIM3 --limit TIM3=2us
    """
    from analysis.judge.limits import ANY
    from analysis.program.latency import rows, text
    from cli.work import judging as gate
    from cli.work import latency
    from simulator.program import user_program

    program = user_program(elf, **board)
    pending = latency.Pending(mode=mode, every=every, pends=pends, seed=seed, enable=enable)
    question = latency.question(pending, irq=irq, until=until, chip=program.chip) if irq else None
    ready = gate.ready(judging, rows.COMMAND, (*latency.kinds(question, section, program.chip), ANY))
    report = latency.run(
        program,
        question,
        section,
        until=until,
        around=around or "",
        explain=explain,
        start=start,
        kernel=kernel,
    )
    settings = latency.settings(pending, irq=irq, sections=section, until=until, around=around)
    done = ready.judge(rows.subject(report.subject, report.latencies, report.sections, settings))
    gate.show(done, judging, as_json, lambda: report.document, lambda: text.as_text(report.document))
    return int(not report.complete) if done.exit_status is None else done.exit_status
