"""The error of campaigns."""

from __future__ import annotations

from base.files.errors import TailscopeError


class CampaignError(TailscopeError):
    """A campaign cannot be read, run or stored. The message says why and what to do."""
