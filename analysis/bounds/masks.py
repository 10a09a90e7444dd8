"""What holds interrupts off at a point of a program: PRIMASK, BASEPRI, FAULTMASK, and counters."""

from __future__ import annotations

from typing import NamedTuple

from analysis.bounds.values import Value, constant, number, unsigned

MASK_NAMES = {"primask", "basepri", "basepri_max", "faultmask"}
SOME = 0x100
"""A BASEPRI that is not zero, and of which no more is known."""
_MOST_EXCEPTIONS = 255


class Masks(NamedTuple):
    """`exception` is the number of the handler that runs; None in a task, or where it is not known.

    `cells` are counters of a kernel that say how often it holds interrupts off, each None if it is
    not known.
    """

    primask: int = 0
    basepri: int = 0
    faultmask: int = 0
    exception: int | None = None
    cells: tuple[int | None, ...] = ()

    def read(self, register: str) -> Value:
        """What MRS gives."""
        if register in ("primask", "faultmask"):
            return number(getattr(self, register))
        if register in ("basepri", "basepri_max"):
            return number(self.basepri) if self.basepri < SOME else number(1, SOME - 1)
        if register == "ipsr":
            return number(0, _MOST_EXCEPTIONS) if self.exception is None else number(self.exception)
        return None

    def with_mask(self, register: str, value: int) -> Masks:
        """The masks after PRIMASK or FAULTMASK was written."""
        is_primask = register == "primask"
        return self._replace(primask=value) if is_primask else self._replace(faultmask=value)

    def with_cell(self, which: int, value: int | None) -> Masks:
        """The masks after a counter was written."""
        cells = (*self.cells[:which], value, *self.cells[which + 1 :])
        return self._replace(cells=cells)

    def holds(self, kind: str) -> bool:
        """Whether a mask of that kind is set."""
        return kind == HANDLER or bool(getattr(self, kind))


HARD_FAULT, SERVICE_CALL = 3, 11
"""Numbers of exceptions (ARM DDI 0403E, B1.5.2)."""


def in_service(masks: Masks) -> Masks:
    """The masks in the handler that SVC enters: HardFault's where PRIMASK or FAULTMASK is set (ARM
    DDI 0403E, B1.5.4).
    """
    escalates = masks.primask or masks.faultmask
    return masks._replace(exception=HARD_FAULT if escalates else SERVICE_CALL)


def after_service(before: Masks, left: Masks) -> Masks:
    """The masks behind an SVC whose handler left those; its return clears FAULTMASK (ARM DDI 0403E,
    B1.5.8).
    """
    return left._replace(exception=before.exception, faultmask=0)


HANDLER = "handler"
KINDS = ("primask", "basepri", "faultmask")


def written(masks: Masks, register: str, value: Value) -> list[Masks]:
    """The masks after MSR or CPS: all that may be.

    A value that may be 0, and of which no more is known, is taken to restore what was before: not
    held off.
    """
    bits = constant(value)
    if bits is None and unsigned(value)[0] == 0:
        bits = 0
    if register in ("primask", "faultmask"):
        choices = (0, 1) if bits is None else (bits & 1,)
        return [masks.with_mask(register, choice) for choice in choices]
    levels = [SOME if bits is None else bits & 0xFF]
    if register == "basepri_max":
        levels = [_raised(masks.basepri, level) for level in levels]
    return [masks._replace(basepri=level) for level in dict.fromkeys(levels)]


def _raised(before: int, level: int) -> int:
    """BASEPRI after a write of BASEPRI_MAX, which only makes it more urgent (ARM DDI 0403E,
    B5.2.3).
    """
    return level if level and (not before or level < before) else before
