"""Errors of scenarios, images and recordings, each a sentence for the person at the bench."""

from __future__ import annotations

from collections.abc import Iterable

from base.files.complaints import quoted as quoted
from base.files.errors import TailscopeError, near_miss


class ScenarioError(TailscopeError):
    """A scenario, a parameter or a stimulus that cannot be run as asked."""


class ImageError(TailscopeError):
    """An operation image, or operations for one, that docs/reference/operation-image.md does not
    allow."""


def unknown(what: str, given: str, names: Iterable[str]) -> ScenarioError:
    """The refusal of a name that is not among `names`, with the list of these and any near miss.

    `what` is what the name should name, such as "scenario".
    """
    choices = sorted(names)
    listed = f"choose from {', '.join(choices)}" if choices else "there are none"
    return ScenarioError(f"There is no {what} {quoted(given)}; {listed}.{near_miss(given, choices)}")


class RecordingError(TailscopeError):
    """Nothing can be recorded, or nothing was; the message says in one sentence why."""
