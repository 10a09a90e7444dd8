"""`./lab latency`: how long an interrupt of one's own program waits."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from base.board_options import BoardOptions
from cli.shell import shared, under_way
from cli.shell.declare import argument, declare, option
from cli.shell.judging import Judging, judging
from cli.shell.values import FILE, INSTANT, WHOLE, OptionError, choice, whole


@declare("Your own firmware, as it is")
@argument("elf", FILE, "your program, the ELF file that the linker wrote")
@option(
    "--irq",
    "the interrupt to pend: TIM3, USART2, EXTI15_10, a number of the chip's vector table, SysTick",
    metavar="NAME",
)
@option(
    "--section",
    "'a..b', or 'f..' from entry to exit; each a function, f+0x12, 0xADDRESS or file.c:12",
    metavar="FROM..TO",
    multiple=True,
)
@option("--until", INSTANT, "the end: a time since reset such as 100ms, or a cycle", default="100ms")
@shared.begin
@shared.kernel
@option(
    "--around",
    "pend during the longest call of this function, and 64 cycles before and after it",
    metavar="FUNCTION",
)
@option("--every", WHOLE, "pend at each n-th cycle; when not given, so that there are at most 100,000")
@option(
    "--mode",
    choice("sweep", "random"),
    "pend at each n-th cycle, or at cycles that are drawn",
    default="sweep",
)
@option("--pends", WHOLE, "of --mode random: how many", default=2_000)
@option("--seed", WHOLE, "of --mode random: what they are drawn from", default=1)
@option(
    "--enable", whole(0, 15), "let the board enable the interrupt when it pends it, at this priority, 0 to 15"
)
@shared.own_program
@judging
def command(
    elf: Path,
    irq: str | None,
    section: tuple[str, ...],
    until: str,
    around: str | None,
    every: int | None,
    mode: str,
    pends: int,
    seed: int,
    enable: int | None,
    start: str | None,
    kernel: str,
    judging: Judging,
    **board: Unpack[BoardOptions],
) -> int:
    """Pend an interrupt of your program at every cycle, and say how long it waits, and why.

    The exit status is 0 if every pend was taken, and all is within limits and baseline where they
    are given; 1 if not; 2 where that cannot be said.
    For example: ./lab latency my.elf --irq TIM3 --limit TIM3=2us
    """
    from analysis.judge.limits import ANY
    from analysis.program.latency import measure, text
    from analysis.program.parts import as_json as dumped
    from analysis.program.subject import RESET, START, Subject
    from simulator.interrupts import exception_of, name_of
    from simulator.latency import Question
    from simulator.program import user_program

    if irq is None and not section:
        raise OptionError("Nothing to measure: give --irq NAME, --section 'a..b', or both.")
    if around and start not in (None, RESET, START):
        raise OptionError("Give --around or --from, not both: each says where the pends begin.")
    if mode == "random" and every:
        raise OptionError("--every goes with --mode sweep; random takes --pends.")
    program = user_program(elf, **board)
    pended = irq and Question(
        exception=exception_of(irq, program.chip),
        until=until,
        every=every,
        random=pends if mode == "random" else 0,
        seed=seed,
        enable=enable,
    )
    # What a limit may name: the interrupt, and each section as it was given.
    kinds = (*([name_of(pended.exception, program.chip)] if pended else []), *section, ANY)
    judging.begin(text.COMMAND, kinds)
    with under_way.shown() as tell:
        subject = Subject.of(program, until, kernel=kernel, start=start or START)
        waits = measure.latencies(subject, pended, around or "", tell) if pended else None
        passes = measure.section_times(subject, section, tell) if section else []
    report = measure.LatencyReport.of(subject, waits, passes)
    settings = {"irq": irq, "section": ", ".join(section), "around": around, "every": every}
    settings |= {"enable": enable} | ({"pends": pends, "seed": seed} if mode == "random" else {})
    typed = {name: str(value) for name, value in settings.items() if value not in (None, "")}
    judging.judge(text.subject(report, typed))
    return judging.show(lambda: dumped(report), lambda: text.as_text(report), usual=int(not report.complete))
