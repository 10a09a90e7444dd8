"""Command lines in this process: what is refused, in which sentence."""

from __future__ import annotations

import click
import pytest

from base.files.errors import TailscopeError
from cli.shell import start


def refused(*words: str) -> str:
    """The sentence that `./lab` with these words is refused by; it must be one."""
    with pytest.raises((click.ClickException, TailscopeError)) as caught:
        start.run(words)
    sentence = str(start.sentence(caught.value))
    assert "\n" not in sentence
    return sentence
