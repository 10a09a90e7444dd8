from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from base.files.errors import CaptureError
from base.files.tests.sentences import is_sentence
from base.run_folder.edges import CHANNELS
from capture.desk.bench import read_bench

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
    ("old", "new", "sentence"),
    [
        (
            'default = "virtual"',
            'default = "moon"',
            " default cannot be 'moon'; choose from virtual, nucleo, desk.",
        ),
        ('default = "virtual"', "", " default is missing; add it."),
        ('default = "virtual"', 'default = ""', " default must be a word in quotes, not ''; mend it."),
        (
            'default = "virtual"',
            'default = "virtual"\ncolour = 1',
            " colour is unknown; the keys here are boards, default.",
        ),
        (
            'kind = "pyocd"',
            'kind = "moon"',
            " boards.nucleo.loader.kind cannot be 'moon'; choose from virtual-nucleo, pyocd, jlink, "
            "openocd, probe-rs, none.",
        ),
        (
            'target = "stm32f401retx"',
            "",
            " boards.nucleo.loader.target is missing; add what pyOCD calls the chip.",
        ),
        (
            'target = "stm32f401retx"',
            'tagret = "stm32f401retx"',
            " boards.nucleo.loader.tagret is unknown; the keys here are arguments, clock, "
            "interface, kind, probe, program, speed_khz, target. Did you mean target?",
        ),
        (
            'kind = "pyocd"\ntarget = "stm32f401retx"',
            'kind = "openocd"\ntarget = "stm32f401retx"',
            ' boards.nucleo.loader.target must be a file of OpenOCD, such as "target/stm32f4x.cfg", not '
            "'stm32f401retx'; mend it.",
        ),
        (
            'kind = "pyocd"\ntarget = "stm32f401retx"\nprobe = ""',
            'kind = "jlink"\ntarget = "STM32F401RE"\nprobe = "ST"',
            " boards.nucleo.loader.probe must be the J-Link's serial number, in digits, not 'ST'; mend it.",
        ),
        (
            'kind = "pyocd"\ntarget = "stm32f401retx"',
            'kind = "probe-rs"\ntarget = "STM32F401RETx"\nspeed_khz = 0',
            " boards.nucleo.loader.speed_khz must be 1 to 50000 kHz, not 0; mend it.",
        ),
        (
            'target = "stm32f401retx"',
            'target = "stm32f401retx"\ninterface = "SWD"',
            " boards.nucleo.loader.interface means nothing to a loader of kind pyocd; drop it.",
        ),
        (
            'kind = "pyocd"\ntarget = "stm32f401retx"',
            'kind = "jlink"\ntarget = "F4"\narguments = ["", "x"]',
            " boards.nucleo.loader.arguments[0] must be words in quotes, not ''; mend it.",
        ),
        (
            'probe = ""',
            "probe = 7",
            " boards.nucleo.loader.probe must be a word in quotes, not 7; mend it.",
        ),
        (
            'kind = "virtual-nucleo"',
            'kind = "virtual-nucleo"\nprobe = "0667FF"',
            " boards.virtual.loader.probe means nothing to a loader of kind virtual-nucleo; drop it.",
        ),
        (
            'port = "pty"',
            'port = "/dev/ttyACM0"',
            " boards.virtual.serial.port must be pty or tcp of a virtual board, not '/dev/ttyACM0'; mend it.",
        ),
        (
            "samplerate_hz = 84_000_000",
            "samplerate_hz = 0",
            " boards.virtual.analyzer.samplerate_hz must be a positive whole number of samples per "
            "second, not 0; mend it.",
        ),
        ("samplerate_hz = 84_000_000", "samplerate_hz = true", " *positive whole number*, not True; *"),
        ("samplerate_hz = 84_000_000", 'samplerate_hz = "84m"', " *positive whole number*, not '84m'; *"),
        (
            "samplerate_hz = 84_000_000",
            "samplerate_hz = 84e6",
            " *positive whole number*, not 84000000.0; *",
        ),
        ('driver = "fx2lafw"', "", " boards.nucleo.analyzer.driver is missing; add it."),
        (
            'SYNC = "D7"',
            "",
            " boards.nucleo.analyzer.channels must name each of CRIT, OP, STIM, ISR, TASK, CTRL, CISR, "
            "SYNC once, and nothing else; mend it.",
        ),
        ('SYNC = "D7"', 'SYNK = "D7"', " boards.nucleo.analyzer.channels must name each of CRIT, *"),
        (
            'SYNC = "D7"',
            'SYNC = "D6"',
            " boards.nucleo.analyzer.channels.SYNC is the same input of the analyzer as CISR; mend it.",
        ),
        (
            'SYNC = "D7"',
            "SYNC = 7",
            " boards.nucleo.analyzer.channels.SYNC must be a word in quotes, not 7; mend it.",
        ),
        (
            "[boards.virtual.loader]",
            "[boards.virtual.leader]",
            " boards.virtual.leader is unknown; the keys here are analyzer, board, emulated, loader, "
            "serial. Did you mean loader?",
        ),
        (
            'port = "usb:0483:374B"',
            "speed = 5",
            " boards.nucleo.serial.speed is unknown; the keys here are baud, port.",
        ),
        (
            'port = "usb:0483:374B"',
            'port = "usb:0483:374B"\nbaud = 9600',
            " boards.nucleo.serial.baud must be *115,200 to 1,000,000*9600*",
        ),
        (
            'port = "usb:0483:374B"',
            'port = "usb:0483:374B"\nbaud = 923_000',
            "*boards.nucleo.serial.baud cannot be 923,000: APB1's 42 MHz by BRR = 46 gives 913,043, 1.08% "
            "off; choose one that is less than 1% off, such as 921,600 or 460,800.",
        ),
        (
            'target = "stm32f401retx"',
            'target = "stm32f401retx"\nclock = "quartz"',
            " boards.nucleo.loader.clock must be bypass, crystal or internal, not 'quartz'; mend it.",
        ),
        ("[boards.nucleo.serial]\n", "", " boards.nucleo.loader.port is unknown; *"),
        (
            'default = "virtual"',
            "default = ",
            "4: the file is not valid TOML: Invalid value, at column 11; mend it.",
        ),
    ],
)
def test_a_mistake_gets_a_sentence(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    assert BENCH.count(old) == 1
    path = tmp_path / "bench.toml"
    path.write_text(BENCH.replace(old, new), encoding="utf-8")
    with pytest.raises(CaptureError) as refusal:
        read_bench(path)
    assert is_sentence(str(refusal.value), f"{path}:{sentence}"), str(refusal.value)


def test_an_unknown_board_gets_the_names() -> None:
    with pytest.raises(
        CaptureError, match=r"no board 'nucelo'; there are nucleo, virtual, desk. Did you mean nucleo\?"
    ):
        read_bench().board("nucelo")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="does not exist"):
        read_bench(tmp_path / "bench.toml")


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
