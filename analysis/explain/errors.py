"""What can go wrong when a run is explained."""

from base.files.errors import TailscopeError


class ExplainError(TailscopeError):
    """The worst sample cannot be explained. The message says in one sentence why and what to do."""
