from pathlib import Path

import pytest

from capture.desk.bench import BENCH_FILE, read_bench
from capture.files.errors import CaptureError
from capture.run_folder.edges import CHANNELS


def test_the_bench_that_comes_with_the_project() -> None:
    bench = read_bench()
    assert bench.board() is bench.boards["virtual"]
    assert bench.board("virtual").analyzer.driver == "beaglelogic"
    assert tuple(bench.board("nucleo").analyzer.channels) == CHANNELS


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('default = "virtual"', 'default = "moon"', "default = 'moon' is none"),
        ('default = "virtual"', "", "default must be a word"),
        ('default = "virtual"', 'default = "virtual"\ncolour = 1', "colour is unknown"),
        ('kind = "pyocd"', 'kind = "openocd"', "'openocd' is unknown; choose from virtual-nucleo, pyocd"),
        ('target = "stm32f401retx"', "", "boards.nucleo.loader.target must be a word"),
        ('probe = ""', "probe = 7", "boards.nucleo.loader.probe must be a word"),
        ('port = "pty"', 'port = "/dev/ttyACM0"', "a virtual board has pty or tcp"),
        ("samplerate_hz = 84_000_000", "samplerate_hz = 0", "positive whole number"),
        ("samplerate_hz = 84_000_000", "samplerate_hz = true", "positive whole number"),
        ("samplerate_hz = 84_000_000", 'samplerate_hz = "84m"', "positive whole number"),
        ('driver = "fx2lafw"', "", "boards.nucleo.analyzer.driver must be a word"),
        ('SYNC = "D7"', "", "must name each of CRIT"),
        ('SYNC = "D7"', 'SYNC = "D6"', "two of our channels the same input"),
        ("[boards.virtual.loader]", "[boards.virtual.leader]", "leader is unknown"),
        ('port = "/dev/ttyACM0"', "speed = 5", "boards.nucleo.serial.speed is unknown"),
        ('default = "virtual"', "default = ", "cannot be read"),
    ],
)
def test_a_mistake_gets_a_sentence(tmp_path: Path, old: str, new: str, words: str) -> None:
    text = BENCH_FILE.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path = tmp_path / "bench.toml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(CaptureError, match=words.replace("(", r"\(")):
        read_bench(path)


def test_an_unknown_board_gets_the_names() -> None:
    with pytest.raises(
        CaptureError, match=r"no board 'nucelo'; it has virtual, nucleo. Did you mean nucleo\?"
    ):
        read_bench().board("nucelo")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="does not exist"):
        read_bench(tmp_path / "bench.toml")
