"""What can go wrong in this room: each error is one sentence that says what to do."""

from __future__ import annotations

from base.files.errors import TailscopeError


class NoBoundError(TailscopeError):
    """The machine code has no bound that can be shown. The message says where and why."""


class CampaignError(TailscopeError):
    """A campaign cannot be read, run or stored. The message says why and what to do."""


class CompareError(TailscopeError):
    """There is nothing to compare. The message says why and what to do."""


class GateError(TailscopeError):
    """A baseline, a limit or a run cannot be used. The message says why and what to do."""


class ExplainError(TailscopeError):
    """The worst sample cannot be explained. The message says in one sentence why and what to do."""


class KernelError(TailscopeError):
    """A kernel's file cannot be used. The message says why and what to do."""


class LatencyError(TailscopeError):
    """It cannot be measured. The message says in one sentence why and what to do."""


class MasksError(TailscopeError):
    """A program's masks cannot be measured. The message says why and what to do."""


class TwinError(TailscopeError):
    """A run cannot be held against the virtual board. The message says why and what to do."""
