"""Why there is no bound."""


class NoBoundError(Exception):
    """The machine code has no bound that can be shown; the message is a sentence that says where and why."""
