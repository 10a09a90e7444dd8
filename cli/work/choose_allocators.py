"""Which allocators can run a plan on this machine."""

from __future__ import annotations

from collections.abc import Sequence

from base.files.errors import CaptureError
from firmware.build import boards, catalogue, outside, periods, region
from firmware.build.boards import Board
from scenarios.plan import Plan


def choose(
    plans: Sequence[Plan], wanted: Sequence[str], board: Board | None = None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The allocators to run, and a sentence for each that `all` leaves out. Paths become names.

    `all` leaves out those that cannot run one of the plans. Raises CaptureError if one that was
    named cannot, and if `board` (None: the default one) has no room for the heap of a plan, or no
    timer for its stimulus.
    """
    on = board or boards.default()
    for plan in plans:
        refusal = periods.objection(plan.stimulus, plan.name, on)
        if refusal := refusal or region.objection(plan.heap_bytes, plan.slots, plan.name, on):
            raise CaptureError(refusal)
    takes_all = list(wanted) == ["all"]
    wanted = outside.admit(wanted)
    names = tuple(catalogue.allocators()) if takes_all else tuple(wanted)
    objections = {name: objection for name in names if (objection := _objection(plans, name))}
    if objections and not takes_all:
        raise CaptureError(" ".join(objections.values()))
    chosen = tuple(name for name in names if name not in objections)
    return chosen, tuple(f"{name} is left out. {objection}" for name, objection in objections.items())


def _objection(plans: Sequence[Plan], allocator: str) -> str | None:
    """Why `allocator` cannot run all the plans, in one sentence; None if it can or is unknown."""
    row = catalogue.allocators().get(allocator)
    if row is None:
        return None
    if missing := row.missing_checkout():
        return missing
    for plan in plans:
        if objection := row.objection(plan.heap_bytes):
            return objection
        frees = int((plan.operations["kind"] == "F").sum())
        if frees and "frees" not in row.promises:
            return f"{allocator} never frees, and {plan.name} frees {frees:,} blocks."
    return None
