"""A step that is not right ends with its remedy, and nothing follows one that stops."""

from __future__ import annotations

from collections.abc import Callable

from base.files.errors import CaptureError
from capture.bring_up.step import STEPS, BringUp, Outcome, walk


def test_the_steps_end_at_the_first_that_stops() -> None:
    def broken() -> Outcome:
        raise CaptureError("The probe is gone.")

    all_well = Outcome("right", "All is well.")
    answers: dict[str, Callable[[], Outcome]] = {step.key: lambda: all_well for step in STEPS}
    odd = Outcome("look", "Two ports.", ("Name one.",))
    answers |= {"rights": lambda: Outcome("skipped", "Virtual."), "desk": lambda: odd, "load": broken}
    heard: list[str] = []
    done = list(walk(answers, heard.append))
    assert heard == [f"{step.key} …" for step in STEPS[:5]]
    assert [reached.outcome.state for reached in done] == ["right", "skipped", "look", "right", "stop"]
    remedies = [reached.step.remedy for reached in done]
    assert [reached.outcome.todo for reached in done] == [
        *((), ()),
        ("Name one.", remedies[2]),
        *((), (remedies[4],)),
    ]
    bring_up = BringUp("mine", done)
    assert not bring_up.whole and "stopped at step 5 of 14, load: The probe is gone." in bring_up.verdict
