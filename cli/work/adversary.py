"""`./lab heap adversary`: chooses what can be searched, shows progress, keeps what is found."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import get_args

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from base.processes import signals
from firmware.build import catalogue, host_search, outside
from firmware.build.host_heap import HostHeapError
from studies.adversary.search import STATES, Budget, What, objection
from studies.adversary.study import Row, Study, write

FOUND = STATES / "found"


def run(
    allocators: Sequence[str],
    *,
    budget: Mapping[str, int],
    what: Collection[What],
    seed: int,
    live: int,
    jobs: int,
    output: Path | None = None,
    states: Path = STATES,
) -> list[Row]:
    """The rows of these allocators; each winner is written as a trace into `output`.

    `budget` are the keywords of search.Budget, `live` is in bytes.

    Raises TailscopeError; signals.Stopped with what is kept.
    """
    whats = [goal for goal in get_args(What) if goal in what]
    pairs, left_out = choose(allocators, whats)
    study = Study(pairs, Budget(**budget), seed, live, jobs, states)
    console = Console(stderr=True, highlight=False)
    for sentence in left_out:
        console.print(escape(sentence), soft_wrap=True)
    try:
        with signals.orderly(), _Shown(console, study.budget) as shown:
            rows = []
            for row in study.rows(shown.tell):
                write(row, output or FOUND)
                rows.append(row)
    except signals.Stopped as stopped:
        kept = f"what was found is kept in {states}, and the same command goes on"
        raise signals.Stopped(stopped.number, kept) from None
    return rows


def choose(wanted: Sequence[str], whats: list[What]) -> tuple[list[tuple[str, What]], list[str]]:
    """What to search on which allocator, and a sentence for each that `all` leaves out.

    Raises HostHeapError for an allocator that is unknown, or was named and cannot be searched.
    """
    takes_all = list(wanted) == ["all"]
    wanted = outside.admit(wanted)
    names = list(catalogue.allocators()) if takes_all else list(dict.fromkeys(wanted))
    pairs: list[tuple[str, What]] = [(name, what) for name in names for what in whats]
    objections = {pair: sentence for pair in pairs if (sentence := objection(*pair))}
    chosen = [pair for pair in pairs if pair not in objections]
    if not takes_all and any(all((name, what) in objections for what in whats) for name in names):
        raise HostHeapError(" ".join(dict.fromkeys(objections.values())))
    return chosen, [f"{name}, {what}: left out. {why}" for (name, what), why in objections.items()]


class _Shown:
    """A bar for each search under way on a terminal, a line for each that ended elsewhere."""

    def __init__(self, console: Console, budget: Budget) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._budget = budget
        self._tasks: dict[tuple[str, What], TaskID] = {}

    def __enter__(self) -> _Shown:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # a terminal that hung up ends nothing
            self._progress.stop()

    def tell(self, allocator: str, what: What, so_far: host_search.Progress) -> None:
        key = (allocator, what)
        if key not in self._tasks:
            self._tasks[key] = self._progress.add_task("", total=self._budget.lists)
        unit = "bytes used" if what == "fragmentation" else "bytes of code"
        line = f"{allocator}, {what}: {so_far.cost:,} {unit}"
        with suppress(OSError):
            self._progress.update(self._tasks[key], description=line, completed=so_far.lists)
            if self._budget.lists is not None and so_far.lists >= self._budget.lists:
                self._progress.remove_task(self._tasks[key])
                self._tasks[key] = self._progress.add_task(line, visible=False)
                self._progress.console.print(escape(f"{line}, {so_far.lists:,} lists"))
