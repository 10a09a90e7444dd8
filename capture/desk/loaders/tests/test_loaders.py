"""Each loader against a stand-in for its tool, which notes what it is asked and says its part.

OpenOCD's says what 0.12 said on the emulated desk, that of probe-rs what 0.32 prints by its source.
Neither a J-Link nor its program was there: the stand-in keeps the command file and plays a chip's
memory, and the bench believes what it reads back.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from base.files.errors import CaptureError
from capture.desk.bench import LoaderResource
from capture.desk.loaders.tests.stand_in import StandIn, elf
from tests.tables import table

Scene = str | dict[str, object]

TARGETS = {"jlink": "STM32F401RE", "openocd": "target/stm32f4x.cfg", "probe-rs": "STM32F401RETx"}
PROGRAMS = {"jlink": "JLinkExe", "openocd": "openocd", "probe-rs": "probe-rs"}
TITLES = {"jlink": "J-Link", "openocd": "OpenOCD", "probe-rs": "probe-rs"}
FIRMWARE = (0x0800_0000, b"fir"), (0x0800_0003, b"mware"), (0x0800_1000, b"far")
IMAGE = b"operations"

READ = {"read0.bin": b"firmware".hex(), "read1.bin": b"far".hex(), "read2.bin": IMAGE.hex()}
LOADED = """\
Info : STLINK V2J37M26 (API v2) VID:PID 0483:374B
auto erase enabled
wrote 16384 bytes from file firmware.elf in 3.603335s (4.440 KiB/s)
verified 11 bytes in 0.199405s (75.772 KiB/s)
wrote 131072 bytes from file operations.bin in 4.201875s (30.463 KiB/s)
verified 10 bytes in 0.142986s (478.091 KiB/s)
shutdown command invoked
"""
DONE, SAME = "      Finished in 1.56s\n", "Verification successful\n"
SOUND: dict[str, list[Scene]] = {
    "jlink": ["O.K.", {"files": READ}],
    "openocd": [LOADED],
    "probe-rs": [DONE, DONE, SAME, SAME],
}


@pytest.fixture
def tool(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    return StandIn.on_path(tmp_path, PROGRAMS[kind], monkeypatch)


def loader(kind: str, **more: object) -> LoaderResource:
    return LoaderResource.model_validate({"kind": kind, "target": TARGETS[kind], **more})


def commands(tool: StandIn, call: int) -> list[str]:
    """The lines of the command file of J-Link Commander."""
    arguments = tool.calls[call]
    return (tool.kept(call) / arguments[arguments.index("-CommandFile") + 1]).read_text().splitlines()


@pytest.mark.parametrize("kind", ["jlink"])
def test_j_link_writes_pieces_and_reads_them_back_by_another_process(tool: StandIn, tmp_path: Path) -> None:
    tool.says(*SOUND["jlink"])
    loader("jlink").programmer().load(elf(tmp_path, *FIRMWARE), IMAGE)
    assert commands(tool, 0) == [
        *("ExitOnError 1", "r", "h"),
        *("loadfile piece0.bin, 0x08000000", "loadfile piece1.bin, 0x08001000"),
        *("loadfile piece2.bin, 0x08040000", "qc"),
    ]
    assert commands(tool, 1)[2:5] == [
        "savebin read0.bin, 0x08000000, 0x8",
        "savebin read1.bin, 0x08001000, 0x3",
        "savebin read2.bin, 0x08040000, 0xa",
    ]
    written = [(tool.kept(0) / f"piece{number}.bin").read_bytes() for number in range(3)]
    assert written == [b"firmware", b"far", IMAGE]


@pytest.mark.parametrize("kind", ["probe-rs"])
def test_probe_rs_writes_both_and_then_compares(tool: StandIn, tmp_path: Path) -> None:
    tool.says(*SOUND["probe-rs"])
    loader("probe-rs").programmer().load(elf(tmp_path, *FIRMWARE), IMAGE)
    assert [(call[0], call[-1]) for call in tool.calls] == [
        (step, file) for step in ("download", "verify") for file in ("firmware.elf", "operations.bin")
    ]
    for call in tool.calls:
        assert call[1:6] == ["--non-interactive", "--chip", "STM32F401RETx", "--protocol", "swd"]
        assert ("0x08040000" in call) == ("operations.bin" in call)
    assert (tool.kept(1) / "operations.bin").read_bytes() == IMAGE


@pytest.mark.parametrize("kind", ["jlink"])
def test_what_bench_toml_says_stands_where_the_tool_reads_it(tool: StandIn) -> None:
    arguments = ["-JTAGConf", "-1,-1"]
    chosen = loader("jlink", probe="123456", speed_khz=1000, interface="JTAG", arguments=arguments)
    chosen.programmer().reset()
    said = "-Device STM32F401RE -If JTAG -Speed 1000 .*-SelectEmuBySN 123456 .*-JTAGConf -1"
    assert re.search(said, " ".join(tool.calls[0]))
    assert commands(tool, 0)[1:] == ["RSetType 2", "r", "g", "qc"]


UNREACHED: dict[str, Scene] = {
    "openocd": {"says": "Error: init mode failed (unable to connect to the target)", "status": 1},
    "probe-rs": {"says": "Error: Connecting to the chip was unsuccessful.", "status": 1},
}


@table
def test_a_load_is_believed_only_if_the_tool_says_so(
    kind: str, tool: StandIn, tmp_path: Path, scenes: list[Scene], why: str
) -> None:
    tool.says(*scenes)
    words = re.escape(f"{TITLES[kind]} cannot load the board: {why}")
    with pytest.raises(CaptureError, match=rf"^{words}.*bench\.toml\."):
        loader(kind).programmer().load(elf(tmp_path, *FIRMWARE), IMAGE)


@pytest.mark.parametrize("kind", UNREACHED)
def test_a_core_that_does_not_answer_is_tried_once_more_with_its_reset_held(
    kind: str, tool: StandIn, tmp_path: Path
) -> None:
    tool.says(UNREACHED[kind], *SOUND[kind])
    programmer = loader(kind).programmer()
    programmer.load(elf(tmp_path, *FIRMWARE), IMAGE)
    held = [
        {"connect_assert_srst", "--connect-under-reset"} & set(" ".join(call).split()) for call in tool.calls
    ]
    assert not held[0] and held[1] and not any(held[2:])
    assert programmer.remarks[0].startswith(f"{TITLES[kind]} reached the board only with its reset")


def test_a_tool_that_is_nowhere_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(CaptureError, match=r"^OpenOCD is not there \(openocd on PATH\): install it, on"):
        loader("openocd").programmer().reset()
    with pytest.raises(CaptureError, match=r"^OpenOCD is not there \(/opt/openocd\): "):
        loader("openocd", program="/opt/openocd").programmer().reset()
