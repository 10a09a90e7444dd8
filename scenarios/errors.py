"""What can be wrong with a scenario or an image, each as one sentence for the person at the bench."""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Iterable

from capture.files.errors import TailscopeError


class ScenarioError(TailscopeError):
    """A scenario, a parameter or a stimulus that cannot be run as asked."""


class ImageError(TailscopeError):
    """An operation image, or operations for one, that docs/SPEC.md section 3 does not allow."""


def quoted(value: object) -> str:
    """`value` as it was given, cut short in the middle where it is very long."""
    return reprlib.repr(value)


def unknown(what: str, given: str, known: Iterable[str]) -> ScenarioError:
    """The refusal of a name that is not among `known`: with the near miss, if there is one, and the list."""
    choices = sorted(known)
    near = difflib.get_close_matches(given[:80], choices, n=1)
    question = f" Did you mean {near[0]}?" if near else ""
    listed = f"choose from {', '.join(choices)}" if choices else "there are none"
    return ScenarioError(f"There is no {what} {quoted(given)}; {listed}.{question}")
