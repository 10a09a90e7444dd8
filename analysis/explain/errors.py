"""What can go wrong when a run is explained."""

from capture.files.errors import TailscopeError


class ExplainError(TailscopeError):
    """The worst sample cannot be explained; the message is one sentence that says why and what to do."""
