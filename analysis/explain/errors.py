"""What can go wrong when a run is explained."""


class ExplainError(Exception):
    """The worst sample cannot be explained; the message is one sentence that says why and what to do."""
