"""`./lab heap fragmentation`: loads the traces, chooses the allocators, shows progress."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from analysis.fragmentation.study import Row, Study
from base.heap_size import DEFAULT_BYTES
from cli.shell.values import OptionError
from cli.work import kept, progress
from cli.work.options import recorded as recorded_by
from dashboards.tradeoff import needs as tradeoff_runs
from dashboards.tradeoff import page
from firmware.build import boards, fit, host_heap
from firmware.build import catalogue as allocators
from scenarios import catalogue
from scenarios import trace as scenarios_trace
from scenarios.errors import ScenarioError
from scenarios.generators import recorded
from scenarios.scaling import Scaling
from scenarios.trace import FREE, KIND, Trace, of_steps


def run(
    name: Sequence[str] = (),
    *,
    trace: Path | None = None,
    scale: int | None = None,
    allocator: Sequence[str] = ("all",),
    heap_bytes: int | None = None,
    seeds: int = 1,
    parameters: Mapping[str, str | int] = MappingProxyType({}),
    knobs: Mapping[str, int] = MappingProxyType({}),
    jobs: int = 1,
    exhaustive: bool = False,
    search: bool = True,
    runs: Sequence[Path] = (),
    output: Path | None = None,
) -> list[Row]:
    """The rows of a scenario or a trace, and the page where one is asked for.

    `name` is the scenario; behind it may stand further run folders. Raises TailscopeError.
    """
    if exhaustive and not search:
        raise OptionError("An exhaustive search cannot be left out; drop --exhaustive or --no-search.")
    if runs and not output:
        raise OptionError("Runs are shown on the page only; say with --output FILE.html where it goes.")
    scenario, folders = divided(name, trace, runs)
    chosen = {**parameters, **recorded_by(trace, scale)}
    traces = _traces(scenario, trace, seeds, chosen, heap_bytes)
    heap_bytes = heap_bytes or _heap_bytes(scenario)
    names, left_out = choose(traces, allocator, heap_bytes)
    study = Study(traces, names, heap_bytes, dict(knobs), jobs, exhaustive, search)
    with progress.shown() as tell:
        for sentence in left_out:
            tell.line(sentence)
        # Before the replay, which may take minutes: a run that does not fit is told at once.
        measured = tradeoff_runs.load(folders, traces, dict(knobs))
        rows = study.rows(tell, progress.Counted(tell, len(names) * len(traces)).done)
    if output:
        page.write(study, rows, measured, output)
    return rows


def divided(
    words: Sequence[str], trace: Path | None, runs: Sequence[Path]
) -> tuple[Sequence[str], list[Path]]:
    """The scenario, and the run folders. A shell's pattern gives more than one behind `--runs`."""
    named = bool(words) and (words[0].endswith(".toml") or words[0] in catalogue.names())
    first = 1 if named or not trace else 0
    further = words[first:] if runs else []
    return words[: len(words) - len(further)], [*runs, *map(Path, further)]


def choose(
    traces: Sequence[Trace], wanted: Sequence[str], heap_bytes: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The allocators to run, as fit.choose() has them. Raises HostHeapError."""
    frees = sum(int((trace.operations[:, KIND] == FREE).sum()) for trace in traces)

    def objection(name: str) -> str | None:
        refusal = host_heap.objection(name, heap_bytes)
        return refusal or allocators.allocators()[name].cannot_free(traces[0].name, frees)

    return fit.choose(wanted, objection, host_heap.HostHeapError)


def _traces(
    scenario: Sequence[str],
    file: Path | None,
    seeds: int,
    parameters: Mapping[str, str | int],
    heap_bytes: int | None,
) -> list[Trace]:
    if not (scenario or file) or len(scenario) > 1:
        raise OptionError("Name one scenario of `./lab list`, or a file with --trace FILE.")
    if file and not scenario:
        return [_from_file(file, seeds, parameters, heap_bytes or _heap_bytes(()))]
    core_hz = boards.board(boards.DEFAULT).core_hz
    first = catalogue.load(scenario[0], parameters, tell=kept.tell, core_hz=core_hz)
    if seeds == 1:
        return [of_steps(first.name, first.generator.steps(), first.seed)]
    if first.seed is None:
        raise ScenarioError(f"{first.name} draws no random numbers; leave --seeds out.")
    numbers = range(first.seed, first.seed + seeds)
    named = [
        catalogue.load(scenario[0], {**parameters, "seed": number}, tell=kept.tell, core_hz=core_hz)
        for number in numbers
    ]
    return [
        of_steps(scenario.name, scenario.generator.steps(), number)
        for scenario, number in zip(named, numbers, strict=True)
    ]


def _from_file(path: Path, seeds: int, parameters: Mapping[str, str | int], heap_bytes: int) -> Trace:
    """The operations of the file as they are, reallocations too, or what a scale leaves of them."""
    if seeds != 1 or set(parameters) - {"trace", "scale"}:
        raise OptionError("A trace from a file has neither seeds nor parameters; drop these options.")
    trace = scenarios_trace.read(path)
    if "scale" not in parameters:
        return trace
    scaling = Scaling(trace)
    one_in = int(parameters["scale"]) or recorded.chosen_scale(scaling, heap_bytes)
    return replace(scaling.scaled(one_in), name=f"{trace.name}, one block in {one_in:,}")


def _heap_bytes(scenario: Sequence[str]) -> int:
    """What the scenario asks for, or else what is usual."""
    return catalogue.load(scenario[0], tell=kept.tell).heap_on() if scenario else DEFAULT_BYTES
