from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from base.files.errors import CaptureError
from base.run_folder.edges import CHANNELS
from capture.desk.bench import read_bench
from tests.sentences import Sentences

BENCH = """\
# What stands on the bench. Each board names what loads it, its serial line and its analyzer.
# docs/how-to/analyzers.md says how to add one; `./lab scenario NAME --board=nucleo` chooses one.

default = "virtual"

# The simulated board. It needs nothing but this repository and sigrok-cli.
[boards.virtual.loader]
kind = "virtual-nucleo"

[boards.virtual.serial]
port = "pty"                      # or "tcp"

[boards.virtual.analyzer]
driver = "beaglelogic"            # the simulator speaks its protocol; sigrok sees no difference
samplerate_hz = 84_000_000        # one sample per core cycle

# A Nucleo-F401RE on USB, wired as docs/reference/wiring.md shows to an analyzer that sigrok knows.
[boards.nucleo.loader]
kind = "pyocd"
target = "stm32f401retx"
probe = ""                        # pyOCD's unique id; empty: the only one connected

[boards.nucleo.serial]
port = "usb:0483:374B"            # the ST-Link's, by its USB id; or a name such as "/dev/ttyACM0"

[boards.nucleo.analyzer]
driver = "fx2lafw"                # or, for all of this table: preset = "fx2lafw" (docs/how-to/analyzers.md)
connection = ""                   # sigrok's conn=, e.g. "1.12"; empty: the only one connected
samplerate_hz = 24_000_000        # 3.5 core cycles per sample; faster analyzers see more

[boards.nucleo.analyzer.channels] # the analyzer's own names
CRIT = "D0"
OP = "D1"
STIM = "D2"
ISR = "D3"
TASK = "D4"
CTRL = "D5"
CISR = "D6"
SYNC = "D7"
"""


def test_the_bench_that_comes_with_the_project() -> None:
    bench = read_bench()
    assert bench.board() is bench.boards["virtual"]
    assert bench.board("virtual").analyzer.driver == "beaglelogic"
    assert tuple(bench.board("nucleo").analyzer.channels) == CHANNELS


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('default = "virtual"', 'default = "moon"'),
        ('default = "virtual"', 'default = "virtual"\ncolour = 1'),
        ('kind = "pyocd"', 'kind = "moon"'),
        ('target = "stm32f401retx"', 'tagret = "stm32f401retx"'),
        (
            'kind = "pyocd"\ntarget = "stm32f401retx"\nprobe = ""',
            'kind = "jlink"\ntarget = "STM32F401RE"\nprobe = "ST"',
        ),
        ('target = "stm32f401retx"', 'target = "stm32f401retx"\ninterface = "SWD"'),
        ('kind = "virtual-nucleo"', 'kind = "virtual-nucleo"\nprobe = "0667FF"'),
        ('port = "pty"', 'port = "/dev/ttyACM0"'),
        ("samplerate_hz = 84_000_000", "samplerate_hz = 0"),
        ('SYNC = "D7"', 'SYNK = "D7"'),
        ('SYNC = "D7"', 'SYNC = "D6"'),
        ("[boards.virtual.loader]", "[boards.virtual.leader]"),
        ('port = "usb:0483:374B"', 'port = "usb:0483:374B"\nbaud = 9600'),
        ('port = "usb:0483:374B"', 'port = "usb:0483:374B"\nbaud = 923_000'),
        ('target = "stm32f401retx"', 'target = "stm32f401retx"\nclock = "quartz"'),
        ('default = "virtual"', "default = "),
    ],
)
def test_a_mistake_gets_a_sentence(tmp_path: Path, old: str, new: str, sentences: Sentences) -> None:
    assert BENCH.count(old) == 1
    path = tmp_path / "bench.toml"
    path.write_text(BENCH.replace(old, new), encoding="utf-8")
    with sentences.raised(CaptureError):
        read_bench(path)


def test_an_unknown_board_gets_the_names() -> None:
    with pytest.raises(
        CaptureError, match=r"no board 'nucelo'; there are nucleo, virtual, desk. Did you mean nucleo\?"
    ):
        read_bench().board("nucelo")


@given(st.data())
def test_whatever_is_left_out_or_doubled(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    lines = BENCH.splitlines()
    number = st.integers(0, len(lines) - 1)
    for at in data.draw(st.lists(number, max_size=4)):
        lines[at] = data.draw(st.sampled_from(["", lines[at].partition("=")[0], *lines]))
    path = tmp_path_factory.getbasetemp() / "bench.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    try:
        assert read_bench(path).board().serial_port
    except CaptureError as error:
        assert str(error).isprintable() and str(error)[-1] in ".?"
