"""`./lab choose`: runs what is not stored yet, searches for heaps, and holds both to the limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from analysis.choice.candidates import Candidate, Choice
from analysis.fragmentation import text
from analysis.fragmentation.of_run import trace_of
from analysis.fragmentation.study import Study
from base.files.errors import TailscopeError
from base.run_folder import folder as names
from base.run_folder.manifest import Manifest, read_manifest
from capture.acquisition.direct import fits as fits_direct
from capture.desk.bench import read_bench
from cli.work import fragmentation, kept, progress, runs
from cli.work.options import Options
from cli.work.plan import compiled
from firmware.build import fit
from scenarios import trace as scenarios_trace
from scenarios.plan import Plan

_DECIDED = ("too long", "cannot say")
"""What no further scenario and no heap can make good."""
_MODEL = "The cycles are those of the virtual board (docs/reference/timing.md)."


def choose(
    scenarios: Sequence[str],
    allocators: Sequence[str],
    options: Options,
    runs_folder: Path,
    *,
    limit_ns: float,
    trace: Path | None,
    search: bool,
    jobs: int,
) -> Choice:
    """The choice among these allocators. Raises TailscopeError, and signals.Stopped."""
    (word,) = options.boards
    resource = read_bench().board(word)
    plans = [compiled(name, options, resource.board) for name in scenarios]
    candidates, left_out = fit.choose_for(resource.board, plans, allocators)
    heap_bytes = max(plan.heap_bytes for plan in plans)
    if fits_direct(resource, options.records):
        options = replace(options, capture="direct")
    manifests: dict[str, list[Manifest]] = {name: [] for name in candidates}
    why_not = dict.fromkeys(candidates, "--no-search leaves it out.")
    going_on = list(candidates)
    for number, scenario in enumerate(scenarios, 1):
        for result in runs.run([scenario], going_on, runs_folder, options) if going_on else ():
            run = read_manifest(result.folder / names.MANIFEST)
            manifests[run.allocator].append(run)
        for name in list(going_on):
            standing = Candidate.of(name, manifests[name]).standing(limit_ns, heap_bytes)
            if standing in _DECIDED:
                going_on.remove(name)
                others = f", and {', '.join(scenarios[number:])} not run" if scenarios[number:] else ""
                why_not[name] = f"not searched for{others}: {scenario} shows already that it is no answer."
        kept.tell(f"{scenario}: {len(going_on)} of {len(candidates)} may stay within the limit")
    heaps = _smallest(plans, trace, going_on, heap_bytes, jobs) if search else {}
    return Choice.among(
        resource.name,
        heap_bytes,
        limit_ns,
        [Candidate.of(name, manifests[name], heaps.get(name, why_not[name])) for name in candidates],
        [*([] if resource.is_real else [_MODEL]), *left_out],
    )


def _smallest(
    plans: Sequence[Plan], trace: Path | None, allocators: Sequence[str], heap_bytes: int, jobs: int
) -> Mapping[str, int | str]:
    """By allocator the bytes of the smallest heap that serves the requests of all plans, or of the
    whole trace; or the sentence why it is not found.
    """
    traces = [scenarios_trace.read(trace)] if trace else list(map(trace_of, plans))
    smallest: dict[str, int | str] = {}
    with progress.shown() as tell:
        counted = progress.Counted(tell, len(allocators))
        for name in allocators:
            counted(f"the smallest heap of {name}")
            try:
                fragmentation.choose(traces, [name], heap_bytes)
                rows = Study(traces, [name], heap_bytes, jobs=jobs).rows()
            except TailscopeError as error:
                smallest[name] = str(error)
                continue
            sizes = [row.cost_metric.smallest_bytes for row in rows]
            smallest[name] = (
                " ".join(text.notes(rows))
                if None in sizes
                else max(size for size in sizes if size is not None)
            )
    return smallest
