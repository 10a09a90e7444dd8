"""Which allocators can run a plan on this machine."""

from __future__ import annotations

from collections.abc import Sequence

from capture.files.errors import CaptureError
from firmware import catalogue
from scenarios.plan import Plan


def choose(plans: Sequence[Plan], wanted: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The allocators to run, and a sentence for each that `all` leaves out.

    `all` leaves out those that cannot run one of the plans. Raises CaptureError if one that was
    named cannot.
    """
    objections = {
        name: objected
        for name in (catalogue.allocators() if list(wanted) == ["all"] else wanted)
        if (objected := next(filter(None, (_objection(plan, name) for plan in plans)), None))
    }
    if list(wanted) != ["all"]:
        if objections:
            raise CaptureError(" ".join(objections.values()))
        return tuple(wanted), ()
    chosen = tuple(name for name in catalogue.allocators() if name not in objections)
    return chosen, tuple(f"{name} is left out. {objected}" for name, objected in objections.items())


def _objection(plan: Plan, allocator: str) -> str | None:
    """Why `allocator` cannot run `plan`, in one sentence; None if it can."""
    frees = int((plan.operations["kind"] == "F").sum())
    row = catalogue.allocators().get(allocator)
    if row is None:
        return None
    if missing := row.missing_checkout():
        return missing
    if frees == 0 or "frees" in row.promises:
        return None
    return f"{allocator} never frees, and {plan.name} frees {frees:,} blocks."
