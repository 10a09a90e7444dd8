"""The file of sentences is held by the tests that it names, and by no others."""

import re
from pathlib import Path

import pytest

from base.paths import ROOT
from tests import sentences
from tests.sentences import Sentences


def test_each_sentence_is_of_a_test_that_is_there() -> None:
    for name in sentences._sentences():
        file, _, test = name.partition("::")
        assert re.search(
            rf"def {re.escape(test.partition('[')[0].rpartition('::')[2])}\(", (ROOT / file).read_text()
        )


def test_a_sentence_is_held_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "sentences.json"
    monkeypatch.setattr(sentences, "FILE", file)
    file.write_text("{}")
    renewing = Sentences("a::b", tmp_path, renew=True)
    with renewing.raised(ValueError):
        raise ValueError(f"{tmp_path}/test_x0/run is gone")
    renewing.close()
    assert "TMP/run is gone" in file.read_text()
    Sentences("a::b", tmp_path, renew=False).hold("TMP/run is gone")
    with pytest.raises(AssertionError):
        Sentences("a::b", tmp_path, renew=False).hold("TMP/run is here")
    with pytest.raises(AssertionError):
        Sentences("a::b", tmp_path, renew=False).close()
