"""The sentences that tests see lie in one file, so that a better word is one line of change.

A test holds the class of an error and its values itself; its sentence is held to sentences.json.
After a change of words, `pytest -n 0 --renew-sentences` with the tests that failed writes the file
anew, and its diff is what to read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from base.paths import ROOT

FILE = Path(__file__).with_name("sentences.json")


class Sentences:
    """The sentences of one test, in the order in which it sees them.

    `test` is its node id. `temporary` is the folder below which pytest makes those of tests: in a
    sentence, a folder of a test is called TMP and the checkout's ROOT. With `renew`, the file takes
    over what the test saw.
    """

    def __init__(self, test: str, temporary: Path, renew: bool) -> None:
        self._test = test
        self._temporary = re.compile(re.escape(str(temporary)) + r"(/[\w.-]+)?")
        self._renew = renew
        self._expected: list[str] = _sentences().get(test, [])
        self._seen: list[str] = []

    def hold(self, text: object) -> None:
        """Holds a text to the file's next one of this test."""
        self._seen.append(self._temporary.sub("TMP", str(text)).replace(str(ROOT), "ROOT"))
        if not self._renew:
            seen = len(self._seen)
            assert self._seen == self._expected[:seen], "pytest --renew-sentences writes what is said now"

    @contextmanager
    def raised(self, *kinds: type[Exception]) -> Iterator[None]:
        """Holds the sentence of an error of one of these classes, which the block must raise."""
        with pytest.raises(kinds) as error:
            yield
        self.hold(error.value)

    def close(self) -> None:
        """Fails if the test saw fewer sentences than the file has of it; or renews the file."""
        if not self._renew:
            assert self._seen == self._expected, "pytest --renew-sentences writes what is said now"
        elif self._seen != self._expected:
            sentences = {**_sentences(), self._test: self._seen}
            FILE.write_text(json.dumps(sentences, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def _sentences() -> dict[str, list[str]]:
    sentences: dict[str, list[str]] = json.loads(FILE.read_text(encoding="utf-8"))
    return sentences
