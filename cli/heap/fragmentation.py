"""`./lab heap fragmentation`: how much heap a scenario or a trace needs on each allocator."""

from __future__ import annotations

from pathlib import Path

from cli.shell import known, shared
from cli.shell.declare import answer, argument, declare, json_option, option
from cli.shell.values import FILE, OUTPUT, RUN, SCENARIO, WHOLE


@declare(section="What it costs")
@argument(
    "name",
    nargs=-1,
    type=SCENARIO,
    help="a scenario of `./lab list`, or the path of a scenario's TOML",
)
@option(
    "--trace",
    type=FILE,
    help="a file of operations, instead of a scenario or for `recorded` (docs/how-to/traces.md)",
)
@shared.scale
@shared.allocator
@shared.heap
@option(
    "--seeds",
    type=WHOLE,
    default=1,
    help="how many seeds to replay: the scenario's own, and those after it",
)
@shared.parameter
@shared.knob
@shared.jobs
@option("--exhaustive", is_flag=True, help="search for the smallest heap however long that takes")
@option(
    "--search/--no-search",
    default=True,
    show_default=False,
    help="whether to search for the smallest heap, which takes longest",
)
@option(
    "--runs",
    type=RUN,
    multiple=True,
    help="run folders of the same trace, for the page: their worst critical sections",
)
@option("--output", type=OUTPUT, help="the HTML file to write: heap beside worst critical section")
@json_option
def command(
    name: tuple[str, ...],
    trace: Path | None,
    scale: int | None,
    allocator: list[str],
    heap_bytes: int | None,
    seeds: int,
    parameter: tuple[tuple[str, str], ...],
    knob: tuple[tuple[str, int], ...],
    jobs: int,
    exhaustive: bool,
    search: bool,
    runs: tuple[Path, ...],
    output: Path | None,
    as_json: bool,
) -> None:
    """Show how much heap a scenario or a trace needs on each allocator, and how much is lost."""
    known.check(allocators_=allocator, knobs_=dict(knob))
    from analysis.fragmentation import text
    from cli.work import fragmentation

    rows = fragmentation.run(
        name,
        trace=trace,
        scale=scale,
        allocator=allocator,
        heap_bytes=heap_bytes,
        seeds=seeds,
        parameters=dict(parameter),
        knobs=dict(knob),
        jobs=jobs,
        exhaustive=exhaustive,
        search=search,
        runs=runs,
        output=output,
    )
    answer(as_json, lambda: [row.as_json() for row in rows], lambda: text.as_text(rows))
    if output and not as_json:
        print(f"page: {output}")
