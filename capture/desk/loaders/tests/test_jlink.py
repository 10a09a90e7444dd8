"""J-Link against a stand-in: there was neither a J-Link nor its program.

The stand-in keeps the command file, and plays a chip's memory. What J-Link itself says is not
known here, so the bench believes what it reads back.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from base.files.errors import CaptureError
from capture.desk.bench import LoaderResource
from capture.desk.loaders.tests.stand_in import StandIn, elf

FIRMWARE = (0x0800_0000, b"fir"), (0x0800_0003, b"mware"), (0x0800_1000, b"far")
READ = {"read0.bin": b"firmware".hex(), "read1.bin": b"far".hex(), "read2.bin": b"operations".hex()}


@pytest.fixture
def jlink(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    return StandIn.on_path(tmp_path, "JLinkExe", monkeypatch)


def loader(**more: object) -> LoaderResource:
    return LoaderResource.model_validate({"kind": "jlink", "target": "STM32F401RE", **more})


def commands(jlink: StandIn, call: int) -> list[str]:
    arguments = jlink.calls[call]
    return (jlink.kept(call) / arguments[arguments.index("-CommandFile") + 1]).read_text().splitlines()


def test_pieces_are_written_and_read_back_by_another_process(jlink: StandIn, tmp_path: Path) -> None:
    jlink.says("O.K.", {"files": READ})
    loader().programmer().load(elf(tmp_path, *FIRMWARE), b"operations")
    assert commands(jlink, 0) == [
        "ExitOnError 1",
        "r",
        "h",
        "loadfile piece0.bin, 0x08000000",
        "loadfile piece1.bin, 0x08001000",
        "loadfile piece2.bin, 0x08040000",
        "qc",
    ]
    assert commands(jlink, 1)[2:5] == [
        "savebin read0.bin, 0x08000000, 0x8",
        "savebin read1.bin, 0x08001000, 0x3",
        "savebin read2.bin, 0x08040000, 0xa",
    ]
    written = [(jlink.kept(0) / f"piece{number}.bin").read_bytes() for number in range(3)]
    assert written == [b"firmware", b"far", b"operations"]


def test_the_command_line_has_what_bench_toml_says(jlink: StandIn) -> None:
    more = {"probe": "123456", "speed_khz": 1000, "interface": "JTAG", "arguments": ["-JTAGConf", "-1,-1"]}
    loader(**more).programmer().reset()
    words = " ".join(jlink.calls[0])
    for said in ("-Device STM32F401RE", "-If JTAG", "-Speed 1000", "-SelectEmuBySN 123456", "-JTAGConf -1"):
        assert said in words
    assert commands(jlink, 0)[1:] == ["RSetType 2", "r", "g", "qc"]


@pytest.mark.parametrize(
    ("scenes", "why"),
    [
        (
            ["O.K.", {"files": {**READ, "read1.bin": b"fat".hex()}}],
            "the flash does not hold what was written, from 0x08001002 on",
        ),
        (["O.K.", {"files": {"read0.bin": READ["read0.bin"]}}], "it does not hand over what it was asked to"),
        (["O.K."], "it does not hand over what it was asked to read back"),
        (
            ["Connecting to J-Link via USB...FAILED: Cannot connect to J-Link."],
            "there is no J-Link that it can",
        ),
        ([{"says": "Cannot connect to target.", "status": 1}], "Cannot connect to target"),
        (["O.K.", "****** Error: Read protection is active"], "its flash is protected; lift it by J-Link's"),
        ([{"says": "Unspecified error -1", "status": 1}], "Unspecified error -1"),
    ],
)
def test_what_is_not_read_back_was_not_written(
    jlink: StandIn, tmp_path: Path, scenes: list[str | dict[str, object]], why: str
) -> None:
    jlink.says(*scenes)
    with pytest.raises(CaptureError, match=rf"^J-Link cannot load the board: {why}.*bench\.toml\.$"):
        loader().programmer().load(elf(tmp_path, *FIRMWARE), b"operations")


def test_a_core_that_was_reached_under_reset_is_told(jlink: StandIn) -> None:
    jlink.says("Attach to CPU failed. Executing connect under reset.")
    programmer = loader().programmer()
    programmer.reset()
    assert programmer.connection.remarks[0].startswith("J-Link reached the board only with its reset held")


def test_the_version_is_that_of_the_commander(jlink: StandIn) -> None:
    jlink.says("SEGGER J-Link Commander V8.12b (Compiled Jan 15 2025 13:47:46)")
    assert loader().programmer().tools() == {"jlink": "V8.12b"}
