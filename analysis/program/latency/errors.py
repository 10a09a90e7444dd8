"""What can go wrong when latencies and sections are measured."""

from base.files.errors import TailscopeError


class LatencyError(TailscopeError):
    """It cannot be measured. The message says in one sentence why and what to do."""
