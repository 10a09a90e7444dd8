"""`./lab heap fragmentation`: how much heap a scenario or a trace needs on each allocator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from base.heap_size import DEFAULT_BYTES
from cli.shell import shared, under_way
from cli.shell.declare import answer, argument, declare, json_option, option
from cli.shell.values import FILE, OUTPUT, RUN, SCENARIO, WHOLE, OptionError

if TYPE_CHECKING:
    from scenarios.trace import Trace


@declare("What it costs")
@argument("name", SCENARIO, "a scenario of `./lab list`, or the path of a scenario's TOML", nargs=-1)
@option(
    "--trace", FILE, "a file of operations, instead of a scenario or for `recorded` (docs/how-to/traces.md)"
)
@shared.scale
@shared.allocator
@shared.heap
@option("--seeds", WHOLE, "how many seeds to replay: the scenario's own, and those after it", default=1)
@shared.parameter
@shared.knob
@shared.jobs
@option("--exhaustive", "search for the smallest heap however long that takes")
@shared.search
@option(
    "--runs", RUN, "run folders of the same trace, for the page: their worst critical sections", multiple=True
)
@option("--output", OUTPUT, "the HTML file to write: heap beside worst critical section")
@json_option
def command(
    name: tuple[str, ...],
    trace: Path | None,
    scale: int | None,
    allocator: list[str],
    heap_bytes: int | None,
    seeds: int,
    parameters: dict[str, str | int],
    knobs: dict[str, int],
    jobs: int,
    exhaustive: bool,
    search: bool,
    runs: tuple[Path, ...],
    output: Path | None,
    as_json: bool,
) -> None:
    """Show how much heap a scenario or a trace needs on each allocator, and how much is lost."""
    if exhaustive and not search:
        raise OptionError("An exhaustive search cannot be left out; drop --exhaustive or --no-search.")
    if runs and not output:
        raise OptionError("Runs are shown on the page only; say with --output FILE.html where it goes.")
    from analysis.fragmentation import study as text
    from analysis.fragmentation.study import Study
    from scenarios import catalogue

    chosen = {**parameters, **shared.recorded(trace, scale)}
    size = heap_bytes or DEFAULT_BYTES
    if len(name) == 1:
        size = heap_bytes or catalogue.load(name[0], tell=under_way.tell).heap_on()
        traces = list(_of_scenario(name[0], seeds, chosen))
    elif trace and not name:
        traces = [_of_file(trace, seeds, chosen, size)]
    else:
        raise OptionError("Name one scenario of `./lab list`, or a file with --trace FILE.")
    allocators, left_out = choose(traces, allocator, size)
    study = Study(traces, allocators, size, knobs, jobs, exhaustive, search)
    with under_way.shown() as tell:
        tell.line(*left_out)
        if output:
            from dashboards import tradeoff

            # Before the replay, which may take minutes: a run that does not fit is told at once.
            measured = tradeoff.load(runs, traces, knobs)
        counted = under_way.Counted(tell, len(allocators) * len(traces))
        rows = study.rows(tell, partial(counted, over=1))
    if output:
        tradeoff.sheet(study, rows, measured).write(output)
    answer(as_json, lambda: [row.as_json() for row in rows], lambda: text.as_text(rows), page=output)


def choose(
    traces: Sequence[Trace], wanted: Sequence[str], heap_bytes: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The allocators to run, as fit.choose() has them. Raises HostHeapError."""
    from firmware.build import catalogue, fit, host_heap
    from scenarios.trace import FREE, KIND

    frees = sum(int((trace.operations[:, KIND] == FREE).sum()) for trace in traces)

    def objection(name: str) -> str | None:
        refusal = host_heap.objection(name, heap_bytes)
        return refusal or catalogue.allocators()[name].cannot_free(traces[0].name, frees)

    return fit.choose(wanted, objection, host_heap.HostHeapError)


def _of_scenario(name: str, seeds: int, parameters: Mapping[str, str | int]) -> Iterator[Trace]:
    from firmware.build import boards
    from scenarios import catalogue
    from scenarios.errors import ScenarioError
    from scenarios.trace import of_steps

    core_hz = boards.board(boards.DEFAULT).core_hz
    chosen = dict(parameters)
    for _ in range(seeds):
        scenario = catalogue.load(name, chosen, tell=under_way.tell, core_hz=core_hz)
        if scenario.seed is not None:
            chosen["seed"] = scenario.seed + 1
        elif seeds > 1:
            raise ScenarioError(f"{scenario.name} draws no random numbers; leave --seeds out.")
        yield of_steps(scenario.name, scenario.generator.steps(), scenario.seed)


def _of_file(path: Path, seeds: int, parameters: Mapping[str, str | int], heap_bytes: int) -> Trace:
    """The operations of the file as they are, reallocations too, or what a scale leaves of them."""
    from scenarios import trace as scenarios_trace
    from scenarios.generators import recorded
    from scenarios.scaling import Scaling

    if seeds != 1 or {*parameters} - {"trace", "scale"}:
        raise OptionError("A trace from a file has neither seeds nor parameters; drop these options.")
    trace = scenarios_trace.read(path)
    if "scale" not in parameters:
        return trace
    scaling = Scaling(trace)
    one_in = int(parameters["scale"]) or recorded.chosen_scale(scaling, heap_bytes)
    return replace(scaling.scaled(one_in), name=f"{trace.name}, one block in {one_in:,}")
