"""Why there is no bound."""

from capture.files.errors import TailscopeError


class NoBoundError(TailscopeError):
    """The machine code has no bound that can be shown; the message is a sentence that says where and why."""
