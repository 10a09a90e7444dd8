"""Command lines in this process: what is refused, in which sentence."""

from __future__ import annotations

import click
import pytest

from base.files.errors import TailscopeError
from cli.shell import refusals, start


def refused(*words: str) -> str:
    """The sentence that `./lab` with these words is refused by; it must be one."""
    with pytest.raises((click.ClickException, TailscopeError)) as caught:
        start.run(words)
    error = caught.value
    sentence = refusals.sentence(error) if isinstance(error, click.ClickException) else str(error)
    assert "\n" not in sentence
    return sentence
