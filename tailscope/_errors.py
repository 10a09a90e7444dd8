"""What the package raises: `Error`, with one sentence that says what is wrong and what to do."""

from __future__ import annotations

from collections.abc import Sequence


class Error(Exception):
    """One sentence. `exit_status` is that of the program, None if no program said it."""

    def __init__(self, sentence: str, exit_status: int | None = None) -> None:
        super().__init__(sentence)
        self.exit_status = exit_status


class NotComplete(Error):  # noqa: N818 (it says what is the matter, as StopIteration does)
    """What was measured may not be believed as it stands.

    `verdict` is `truncated` or `inconclusive`, `reasons` are sentences. With `any_verdict=True`
    the same call hands over the numbers.
    """

    def __init__(self, subject: str, verdict: str, reasons: Sequence[str]) -> None:
        self.verdict = verdict
        self.reasons = tuple(reasons)
        why = " ".join(self.reasons) or "It does not say why."
        super().__init__(f"{subject} is {verdict}: {why} Ask with any_verdict=True for its numbers.")
