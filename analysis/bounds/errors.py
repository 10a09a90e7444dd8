"""The error that says why there is no bound."""

from base.files.errors import TailscopeError


class NoBoundError(TailscopeError):
    """The machine code has no bound that can be shown. The message says where and why."""
