import pytest

from capture.acquisition import record_reader
from capture.acquisition.record_reader import RecordReader


class Babble(RecordReader):
    """A board that says the same for ever."""

    def _receive(self) -> bytes:
        return b"x" * 300

    def _release(self) -> None:
        pass

    def _broken(self, error: Exception) -> str:
        return str(error)

    def _silence(self) -> str:
        return "silent"


def test_a_board_that_never_stops_talking_is_heard_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_reader, "MOST_LOG_BYTES", 1000)
    with Babble("babble", silence_s=60) as reader:
        assert reader.wait(60)
    assert reader.data == b"x" * 1000
    assert reader.problem is not None
    assert "more than 1,000 bytes without END" in reader.problem
