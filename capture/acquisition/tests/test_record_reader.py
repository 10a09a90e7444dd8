from collections.abc import Callable
from pathlib import Path

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


def test_a_board_that_never_stops_talking_is_heard_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_reader, "MOST_LOG_BYTES", 1000)
    with Babble("babble") as reader:
        assert reader.wait(60)
    assert reader.data == b"x" * 1000
    assert reader.problem is not None
    assert "more than 1,000 bytes without END" in reader.problem


class Teller(Babble):
    """A board whose `lines` come one by one; before each, `look` is called."""

    def __init__(self, log: Path, lines: list[bytes], look: Callable[[], object]) -> None:
        super().__init__("teller", log)
        self._lines = list(lines)
        self._look = look

    def _receive(self) -> bytes:
        self._look()
        return self._lines.pop(0)


LINES = [b"@BOOT,5*0000\n", b"@OP,0*0000\n", b"@END,1*0000\n"]


def test_what_was_heard_is_on_the_disk_before_more_is_listened_for(tmp_path: Path) -> None:
    log = tmp_path / "uart.log"
    seen: list[bytes] = []
    with Teller(log, LINES, lambda: seen.append(log.read_bytes())) as reader:
        assert reader.wait(60)
    assert seen == [b"", LINES[0], LINES[0] + LINES[1]]
    assert log.read_bytes() == reader.data == b"".join(LINES)


@pytest.mark.parametrize("log", ["/dev/full", "/dev/null/uart.log"])
def test_a_disk_that_takes_no_record_does_not_end_the_listening(log: str) -> None:
    """Whoever stores the run has them all, and tells if they do not fit then either."""
    with Teller(Path(log), LINES, lambda: None) as reader:
        assert reader.wait(60)
    assert (reader.data, reader.problem) == (b"".join(LINES), None)
