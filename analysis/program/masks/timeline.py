"""Timelines for ui.perfetto.dev: what held interrupts off in a program, and a stored run with its
pins and operations. Time 0 is the first sample, which on the virtual board is reset.
"""

from __future__ import annotations

from itertools import groupby, zip_longest
from pathlib import Path

from analysis.explain.replay import elf_of
from analysis.program.masks.measure import MaskReport, of_run
from analysis.program.masks.worst import name_of
from analysis.program.subject import RESET, Subject
from base.run_folder import folder as names
from base.run_folder.channels import NS_PER_S
from base.run_folder.edges import read_parquet
from base.run_folder.explanation import Anatomy, Explanation, Replayed
from base.run_folder.folder import read_observed
from base.run_folder.manifest import read_manifest
from base.run_folder.named_quantities import NAMED
from base.run_folder.tables import read_operations
from base.timeline import Timeline
from simulator import masks as simulator
from simulator.program import user_program


def add(made: Timeline, report: MaskReport) -> None:
    """Adds all that a run of a program showed, from reset on: tasks, handlers and masks, each with
    who called. What is still open lasts to the end of the run.
    """
    changes, ns = report.run.changes, report.clock.ns
    # A task while it is the current one: a switch shows at the change that follows it.
    of_tasks = groupby((change for change in changes if change.task), key=lambda change: change.task)
    switches = [next(of_task) for _, of_task in of_tasks]
    for change, following in zip_longest(switches, switches[1:]):
        address = f"{change.task or 0:#010x}"
        end = following.cycle if following else report.cycles
        made.slice("tasks", "tasks", report.tasks.get(address, address), ns(change.cycle), ns(end))
    for it in report.all_intervals:
        began, end = changes[it.begin_row], report.cycles if it.end_cycle is None else it.end_cycle
        stack = " ← ".join(map(str, report.places.stack(began.stack, began.pc)))
        group, track, name = "masks", it.kind, name_of(it.kind, it.level, report.places)
        if it.kind == "handler":
            group, name = "handlers", report.places.exception(it.level or 0)
            track = name
        made.slice(group, track, name, ns(it.begin_cycle), ns(end), cycles=it.cycles, stack=stack)


def run_timeline(
    folder: Path, explained: Explanation, made_of: Anatomy | None, allocator: Path | None = None
) -> Timeline:
    """The timeline of the run in `folder`, whose worst sample is `explained`: its pins while they
    are high, its operations with the bytes in use after each, and the worst sample; if it was
    replayed, also what held interrupts off in the whole capture, and the calls of the worst sample,
    which it is `made_of`.

    `allocator` is the file of one from outside (elf_of()). Raises TailscopeError.
    """
    edges, made = read_parquet(folder / names.EDGES), Timeline()
    for channel in edges.channels:
        # From here on it is high, low, high; the last one lasts to the end of the capture.
        turns = [0] * edges.initial_level(channel) + edges.transitions(channel).sample.tolist()
        for begin, end in zip(turns[::2], [*turns[1::2], edges.total_samples], strict=False):
            made.slice("pins", channel, channel, begin * edges.sample_ns, end * edges.sample_ns)
    for row in (
        read_operations(folder / names.OPERATIONS)
        .drop_nulls(["start_sample", "wire_operation_samples"])
        .iter_rows(named=True)
    ):
        begin_ns = row["start_sample"] * edges.sample_ns
        end_ns = begin_ns + row["wire_operation_samples"] * edges.sample_ns
        facts = {name: row[name] for name in ("seq", "size", "label", "probes")}
        made.slice("heap", "operations", row["kind"], begin_ns, end_ns, **facts)
        made.counter("heap", "bytes in use", end_ns, row["bytes_in_use"] or 0)
    begin_ns, end_ns = (at * edges.sample_ns for at in (explained.start_sample, explained.end_sample))
    words = NAMED[explained.quantity].words
    made.slice("explained", "the worst sample", words, begin_ns, end_ns, value_ns=explained.value_ns)
    if not isinstance(explained, Replayed):
        return made
    cycle_ns = (end_ns - begin_ns) / max(explained.cycles, 1)
    for call in made_of.calls if made_of else ():
        at_ns = begin_ns + call.begin_cycle * cycle_ns
        last_ns = at_ns + call.cycles * cycle_ns
        made.slice("explained", "calls", call.name, at_ns, last_ns, cycles=call.cycles, source=call.source)
    program = user_program(elf_of(read_manifest(folder / names.MANIFEST), allocator))
    image = read_observed(folder, names.IMAGE)
    until = f"{edges.total_samples * NS_PER_S // edges.samplerate_hz}ns"
    subject = Subject.of(program, until, start=RESET)
    run = simulator.run_masks(program, until, image, kernel=subject.words)
    add(made, of_run(subject, run, False, lambda _: None, image))
    return made
