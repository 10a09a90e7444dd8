"""Which allocators can run a plan at all, here."""

from __future__ import annotations

from collections.abc import Sequence

from capture.files.errors import CaptureError
from firmware import catalogue
from scenarios.plan import Plan


def choose(plans: Sequence[Plan], wanted: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The allocators to run, and a sentence for each that `all` leaves out since it cannot run a plan.

    Raises CaptureError where one that was named cannot run a plan.
    """
    takes_all = list(wanted) == ["all"]
    names = tuple(catalogue.allocators()) if takes_all else tuple(wanted)
    objections = {name: objection for name in names if (objection := _objection(plans, name))}
    if objections and not takes_all:
        raise CaptureError(" ".join(objections.values()))
    chosen = tuple(name for name in names if name not in objections)
    return chosen, tuple(f"{name} is left out. {objection}" for name, objection in objections.items())


def _objection(plans: Sequence[Plan], allocator: str) -> str | None:
    """Why `allocator` cannot run all the plans, as one sentence; None if it can, or nobody knows it."""
    row = catalogue.allocators().get(allocator)
    if row is None:
        return None
    if missing := row.missing_checkout():
        return missing
    for plan in plans:
        frees = int((plan.operations["kind"] == "F").sum())
        if frees and "frees" not in row.promises:
            return f"{allocator} never frees, and {plan.name} frees {frees:,} blocks."
    return None
