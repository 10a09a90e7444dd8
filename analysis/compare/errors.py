"""What can go wrong when runs are held against each other."""

from __future__ import annotations

from base.files.errors import TailscopeError


class CompareError(TailscopeError):
    """There is nothing to compare. The message says why and what to do."""
