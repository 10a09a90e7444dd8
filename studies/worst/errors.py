"""Errors of the matrix, each with one sentence for the person at the bench."""

from __future__ import annotations

from base.files.errors import TailscopeError


class WorstError(TailscopeError):
    """A construction that an allocator did not run as it must."""
