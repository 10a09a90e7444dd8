"""`./lab choose`: which allocator keeps a limit, in a heap of a size, on a board."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from base.paths import RUNS
from cli.shell import shared, start, under_way
from cli.shell.declare import answer, argument, declare, json_option, option
from cli.shell.values import BOARD, OUTPUT_FOLDER, SCENARIO, SECONDS, OptionError

if TYPE_CHECKING:
    from scenarios.plan import Plan

_USUAL = ("mem_frag", "mem_stress")
"""First what is built to be long: what fails there needs no other run."""
_MODEL = "The cycles are those of the virtual board (docs/reference/timing.md)."


@declare("Run and measure")
@argument(
    "name",
    SCENARIO,
    "scenarios of `./lab list` to hold them to; mem_stress and mem_frag, or `recorded` with --trace, "
    "when none is given",
    nargs=-1,
)
@option(
    "--limit",
    "limit_s",
    SECONDS,
    "the longest that an interrupt may wait for the heap, or with the scheduler's lock a task: 10us",
    required=True,
)
@shared.heap
@option(
    "--board",
    BOARD,
    "a board of `./lab list`, or the path of its TOML; the name of a Nucleo is the simulated one; "
    "bench.toml's default when not given",
)
@shared.allocator
@shared.trace
@shared.scale
@shared.search
@shared.jobs
@option("--runs", OUTPUT_FOLDER, "the folder that the runs lie in", default=RUNS, show_default="runs")
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
    from analysis import choice as text
    from analysis.choice import Candidate, Choice
    from base.run_folder.folder import MANIFEST
    from base.run_folder.manifest import Manifest, read_manifest
    from capture.acquisition import direct
    from capture.desk.bench import read_bench
    from cli.shell import runs as series
    from firmware.build import boards, fit

    if trace and name:
        raise OptionError("Give scenarios or --trace FILE: a trace is replayed by `recorded` alone.")
    word = f"virtual:{board}" if board in boards.names() else board
    scenarios = name or (("recorded",) if trace else _USUAL)
    limit_ns = limit_s * 1e9
    start.need("scipy")
    with under_way.stoppable("the runs that are over are stored: run it again"):
        under_way.on_desk(word)
        resource = read_bench().board(word)
        options = shared.RunOptions(
            trace=trace,
            scale=scale,
            boards=(word,),
            heap_bytes=heap_bytes,
            capture="direct" if direct.fits(resource, shared.RECORDS[0]) else None,
            stored=True,
            explained=False,
        )
        plans = [series.compiled(scenario, options, resource.board) for scenario in scenarios]
        candidates, left_out = fit.choose_for(resource.board, plans, allocator)
        size = max(plan.heap_bytes for plan in plans)
        manifests: dict[str, list[Manifest]] = {name: [] for name in candidates}
        heaps: dict[str, int | str] = dict.fromkeys(candidates, "--no-search leaves it out.")
        going_on = list(candidates)
        for number, scenario in enumerate(scenarios, 1):
            for result in series.run([scenario], going_on, runs, options) if going_on else ():
                run = read_manifest(result.folder / MANIFEST)
                manifests[run.allocator].append(run)
            for candidate in list(going_on):
                # What no further scenario and no heap can make good.
                standing = Candidate.of(candidate, manifests[candidate]).standing(limit_ns, size)
                if standing in ("too long", "cannot say"):
                    going_on.remove(candidate)
                    others = f", and {', '.join(scenarios[number:])} not run" if scenarios[number:] else ""
                    heaps[candidate] = (
                        f"not searched for{others}: {scenario} shows already that it is no answer."
                    )
            under_way.tell(f"{scenario}: {len(going_on)} of {len(candidates)} may stay within the limit")
        if search:
            heaps |= _smallest(plans, trace, going_on, size, jobs)
        chosen = Choice(
            resource.name,
            size,
            limit_ns,
            [Candidate.of(candidate, manifests[candidate], heaps[candidate]) for candidate in candidates],
            [*([] if resource.is_real else [_MODEL]), *left_out],
        )
    answer(as_json, chosen.as_json, lambda: text.as_text(chosen))
    return chosen.exit_status


def _smallest(
    plans: Sequence[Plan], trace: Path | None, allocators: Sequence[str], heap_bytes: int, jobs: int
) -> dict[str, int | str]:
    """By allocator the bytes of the smallest heap that serves the requests of all plans, or of the
    whole trace; or the sentence why it is not found.
    """
    from analysis.fragmentation import study as text
    from analysis.fragmentation.of_run import trace_of
    from analysis.fragmentation.study import Study
    from base.files.errors import TailscopeError
    from cli.heap import fragmentation
    from scenarios import trace as scenarios_trace

    traces = [scenarios_trace.read(trace)] if trace else list(map(trace_of, plans))
    smallest: dict[str, int | str] = {}
    with under_way.shown() as tell:
        counted = under_way.Counted(tell, len(allocators))
        for name in allocators:
            counted(f"the smallest heap of {name}")
            try:
                fragmentation.choose(traces, [name], heap_bytes)
                rows = Study(traces, [name], heap_bytes, jobs=jobs).rows()
            except TailscopeError as error:
                smallest[name] = str(error)
                continue
            sizes = [row.cost_metric.smallest_bytes or 0 for row in rows]
            smallest[name] = max(sizes) if all(sizes) else " ".join(text.notes(rows))
    return smallest
