"""What can go wrong when a program's masks are measured."""

from __future__ import annotations

from base.files.errors import TailscopeError


class MasksError(TailscopeError):
    """A program's masks cannot be measured. The message says why and what to do."""
