"""`./lab choose`: which allocator keeps a limit, in a heap of a size, on a board."""

from __future__ import annotations

from pathlib import Path

from base.paths import RUNS
from cli.shell import extras, known, shared
from cli.shell.declare import answer, argument, declare, json_option, option
from cli.shell.values import BOARD, OUTPUT_FOLDER, SCENARIO, SECONDS, OptionError

_USUAL = ("mem_frag", "mem_stress")
"""First what is built to be long: what fails there needs no other run."""
_NS = 1e9


@declare(section="Run and measure")
@argument(
    "name",
    nargs=-1,
    type=SCENARIO,
    help="scenarios of `./lab list` to hold them to; mem_stress and mem_frag, or `recorded` with --trace, "
    "when none is given",
)
@option(
    "--limit",
    "limit_s",
    type=SECONDS,
    required=True,
    help="the longest that an interrupt may wait for the heap, or with the scheduler's lock a task: 10us",
)
@shared.heap
@option(
    "--board",
    type=BOARD,
    help="a board of `./lab list`, or the path of its TOML; the name of a Nucleo is the simulated one; "
    "bench.toml's default when not given",
)
@shared.allocator
@shared.trace
@shared.scale
@option(
    "--search/--no-search",
    default=True,
    show_default=False,
    help="whether to search for the smallest heap, which takes longest",
)
@shared.jobs
@option(
    "--runs", type=OUTPUT_FOLDER, default=RUNS, show_default="runs", help="the folder that the runs lie in"
)
@json_option
def command(
    name: tuple[str, ...],
    limit_s: float,
    heap_bytes: int | None,
    board: str | None,
    allocator: list[str],
    trace: Path | None,
    scale: int | None,
    search: bool,
    jobs: int,
    runs: Path,
    as_json: bool,
) -> int:
    """Say which allocator keeps a limit in a heap of a size, and why; runs that are stored count.

    The exit status is 0 if one fits, 1 if none does, 2 where that cannot be said.
    For example: ./lab choose --heap 8k --board nucleo-f103rb --limit 20us
    """
    from analysis.choice import text
    from cli.work import choice, kept, where
    from cli.work.options import Options, recorded

    if trace and name:
        raise OptionError("Give scenarios or --trace FILE: a trace is replayed by `recorded` alone.")
    word = f"virtual:{board}" if board in known.chips() else board
    extras.need("scipy")
    options = Options(
        parameters=recorded(trace, scale), boards=(word,), heap_bytes=heap_bytes, stored=True, explained=False
    )
    with kept.told([], "the runs that are over are stored: run it again"):
        where.run(word)
        chosen = choice.choose(
            name or (("recorded",) if trace else _USUAL),
            allocator,
            options,
            runs,
            limit_ns=limit_s * _NS,
            trace=trace,
            search=search,
            jobs=jobs,
        )
    answer(as_json, chosen.as_json, lambda: text.as_text(chosen))
    return chosen.exit_status
