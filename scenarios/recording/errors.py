"""What a user of `./lab record` can mend."""

from __future__ import annotations

from base.files.errors import TailscopeError


class RecordingError(TailscopeError):
    """Nothing can be recorded, or nothing was; the message says in one sentence why."""
