"""What a user can mend, told in one sentence."""

from __future__ import annotations


class TailscopeError(Exception):
    """Something is wrong that a user can mend; the message
    says in one sentence what, and what to do.

    The tasks print the message of any of these, without a traceback. Rooms have kinds of their own
    where somebody tells them apart.
    """


class CaptureError(TailscopeError):
    """A capture cannot be made, read or used."""


class RunError(TailscopeError):
    """A run folder cannot be read or shown."""


def first_line(error: BaseException) -> str:
    """The first line of what an exception says, or its kind where it says nothing."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
