"""Whether a board has room for a plan, and which allocators can run it there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from base.files.errors import CaptureError, TailscopeError
from firmware.build import catalogue, outside, periods, region
from firmware.build.boards import Board
from scenarios.plan import Plan


def fit(board: Board, plan: Plan, allocator: str) -> str | None:
    """Why `allocator` cannot run the plan on the board, in one sentence; None if it can, or is
    unknown, which its build says.
    """
    refusal = periods.objection(plan.stimulus, plan.name, board)
    refusal = refusal or region.objection(plan.heap_bytes, plan.slots, plan.name, board)
    row = catalogue.allocators().get(allocator)
    if refusal or row is None:
        return refusal
    frees = int((plan.operations["kind"] == "F").sum())
    return row.missing_checkout() or row.objection(plan.heap_bytes) or row.cannot_free(plan.name, frees)


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
