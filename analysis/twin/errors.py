"""What can go wrong when a run is held against its twin."""

from __future__ import annotations

from base.files.errors import TailscopeError


class TwinError(TailscopeError):
    """A run cannot be held against the virtual board. The message says why and what to do."""
