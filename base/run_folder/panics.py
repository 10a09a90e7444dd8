"""Files that polars gives up on in panic.

A damaged page can end polars' Rust code in a panic. Python sees an exception, but its words are
those of the code that broke, and Rust has written them to standard error before, past Python.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from polars.exceptions import ComputeError, PanicException

_STDERR = 2


@contextmanager
def without_panic() -> Iterator[None]:
    """Raises ComputeError in place of a panic. What is written to standard error within is lost.

    For the short while of a read: standard error is the whole process's.
    """
    try:
        with silence():
            yield
    except PanicException:
        raise ComputeError("its pages contradict each other") from None


@contextmanager
def silence() -> Iterator[None]:
    """What is written to standard error within is lost."""
    try:
        descriptor = os.dup(_STDERR)
    except OSError:  # it is closed, so nothing is seen of it anyhow
        yield
        return
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        os.dup2(nowhere, _STDERR)
        os.close(nowhere)
        yield
    finally:
        os.dup2(descriptor, _STDERR)
        os.close(descriptor)
