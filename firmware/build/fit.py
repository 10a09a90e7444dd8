"""Whether a board has room and time for a plan, and which allocators can run it there.

What of the SRAM the heap's region does not take is the same whatever allocator is linked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from base.files.errors import CaptureError, TailscopeError
from base.heap_size import STEP_BYTES
from firmware.build import catalogue, outside
from firmware.build.boards import Board
from scenarios.operations import entries_in
from scenarios.place import Place
from scenarios.plan import Plan

BENCH_BYTES = 9_728
SLOT_BYTES = 8
"""Of a slot: an address and a size (bench/interpreter.c)."""
MOST_SLOTS = 2048


def slots_beside(heap_bytes: int, sram_bytes: int) -> int:
    """The slots of an image with such a region, at most MOST_SLOTS; none where it does not fit."""
    return max(0, min(MOST_SLOTS, (sram_bytes - BENCH_BYTES - heap_bytes) // SLOT_BYTES))


def largest_heap_bytes(slots: int, sram_bytes: int) -> int:
    """The largest region beside so many slots."""
    return (sram_bytes - BENCH_BYTES - SLOT_BYTES * slots) // STEP_BYTES * STEP_BYTES


def place(board: Board) -> Place:
    """What the board has for a scenario."""
    memory = board.memory
    return Place(
        memory.heap_bytes,
        entries_in(memory.operations_bytes),
        lambda heap_bytes: slots_beside(heap_bytes, memory.sram_bytes),
    )


def fit(board: Board, plan: Plan, allocator: str) -> str | None:
    """Why `allocator` cannot run the plan on the board, in one sentence; None if it can, or is
    unknown, which its build says.
    """
    return next(filter(None, _objections(board, plan, allocator)), None)


def _objections(board: Board, plan: Plan, allocator: str) -> Iterator[str | None]:
    """What fit() says: of the timers, which may not have the periods of the stimulus, of the room
    for region and slots, and of the allocator. None where there is no objection.
    """
    stimulus, timers, sram_bytes = plan.stimulus, board.timers, board.memory.sram_bytes
    # From an edge to the next; a random interval is less than one and a half periods.
    longest = stimulus.period_ticks * 3 // 2 if stimulus.mode == "random" else stimulus.period_ticks
    for name, ticks, timer in (
        ("stimulus", longest, timers.stimulus),
        ("control", stimulus.control_period_ticks, timers.control),
    ):
        if timer and ticks > 1 << timer.bits:  # without one, a run comes without
            yield (
                f"The {name} of {plan.name} takes {ticks:,} ticks from edge to edge, and its timer on "
                f"{board.title} counts {1 << timer.bits:,}: give a shorter period with --stimulus."
            )
    if plan.slots > slots_beside(plan.heap_bytes, sram_bytes):
        yield (
            f"A heap of {plan.heap_bytes:,} bytes does not fit the {board.title} beside the {plan.slots:,} "
            f"slots of {plan.name}: it may have {largest_heap_bytes(plan.slots, sram_bytes):,} bytes at most."
        )
    if row := catalogue.allocators().get(allocator):
        yield row.missing_checkout()
        yield row.objection(plan.heap_bytes)
        yield row.cannot_free(plan.name, int((plan.operations["kind"] == "F").sum()))


def choose(
    wanted: Sequence[str],
    objection: Callable[[str], str | None],
    error: type[TailscopeError] = CaptureError,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The allocators to run, each once, and a sentence for each that `all` leaves out. Paths become
    names.

    Raises `error` if one that was named has an objection, or if all have.
    """
    takes_all = list(wanted) == ["all"]
    wanted = outside.admit(wanted)
    names = catalogue.allocators() if takes_all else dict.fromkeys(wanted)
    objections = {name: refusal for name in names if (refusal := objection(name))}
    chosen = tuple(name for name in names if name not in objections)
    if objections and not (takes_all and chosen):
        raise error(" ".join(dict.fromkeys(objections.values())))
    return chosen, tuple(f"{name} is left out. {refusal}" for name, refusal in objections.items())


def choose_for(
    board: Board, plans: Sequence[Plan], wanted: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The allocators that can run all of the plans on the board, as choose() has them."""
    return choose(wanted, lambda name: next(filter(None, (fit(board, plan, name) for plan in plans)), None))
