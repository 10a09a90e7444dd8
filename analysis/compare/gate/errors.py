"""What keeps the gate from saying anything."""

from __future__ import annotations

from base.files.errors import TailscopeError


class GateError(TailscopeError):
    """A baseline, a limit or a run cannot be used. The message says why and what to do."""
