"""OpenOCD against a stand-in that says what OpenOCD 0.12 said on the emulated desk, and worse."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from base.files.errors import CaptureError
from capture.desk import loader_tool
from capture.desk.bench import LoaderResource
from capture.desk.loaders.tests.stand_in import StandIn, elf

FIRMWARE = (0x0800_0000, bytes(range(200))), (0x0800_00C8, b"data"), (0x0800_1000, b"far")
IMAGE = b"operations"
LOADED = """\
Info : STLINK V2J37M26 (API v2) VID:PID 0483:374B
auto erase enabled
wrote 16384 bytes from file firmware.elf in 3.603335s (4.440 KiB/s)
verified 207 bytes in 0.199405s (75.772 KiB/s)
wrote 131072 bytes from file operations.bin in 4.201875s (30.463 KiB/s)
verified 10 bytes in 0.142986s (478.091 KiB/s)
shutdown command invoked
"""


@pytest.fixture
def openocd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    return StandIn.on_path(tmp_path, "openocd", monkeypatch)


def loader(**more: object) -> LoaderResource:
    return LoaderResource.model_validate({"kind": "openocd", "target": "target/stm32f4x.cfg", **more})


def test_both_are_written_and_compared_in_one_call(openocd: StandIn, tmp_path: Path) -> None:
    openocd.says(LOADED)
    loader().programmer().load(elf(tmp_path, *FIRMWARE), IMAGE)
    (call,) = openocd.calls
    commands = [word for before, word in pairwise(call) if before == "-c"]
    assert commands[-7:] == [
        "init",
        "reset halt",
        "flash write_image erase firmware.elf",
        "verify_image firmware.elf",
        "flash write_image erase operations.bin 0x08040000 bin",
        "verify_image operations.bin 0x08040000 bin",
        "shutdown",
    ]
    assert call[call.index("-f") + 1] == "interface/stlink.cfg"
    assert (openocd.kept(0) / "operations.bin").read_bytes() == IMAGE
    assert (openocd.kept(0) / "firmware.elf").read_bytes().startswith(b"\x7fELF")


def test_what_bench_toml_says_stands_where_openocd_reads_it(openocd: StandIn, tmp_path: Path) -> None:
    openocd.says(LOADED.replace("verified 10 bytes", "nothing"))
    more = {
        "interface": "interface/cmsis-dap.cfg",
        "probe": "0667FF",
        "speed_khz": 480,
        "arguments": ["-c", "transport select swd"],
    }
    loader(**more).programmer().load(elf(tmp_path, *FIRMWARE), b"")
    words = " ".join(openocd.calls[0])
    order = ["cmsis-dap.cfg", "adapter serial 0667FF", "transport select swd", "stm32f4x.cfg", "speed 480"]
    places = [words.index(word) for word in order]
    assert places == sorted(places) and "operations.bin" not in words


def test_the_pin_resets(openocd: StandIn) -> None:
    loader().programmer().reset()
    (call,) = openocd.calls
    assert call[-3:] == ["reset run", "-c", "shutdown"]
    assert "reset_config srst_only srst_nogate" in call


@pytest.mark.parametrize(
    ("says", "why"),
    [
        (LOADED.replace("verified 207", "verified 206"), "it does not say that it compared all that"),
        (LOADED.replace("verified 10 bytes", "veri"), "it does not say that it compared all that it wrote"),
        ("", "it does not say that it compared all that it wrote"),
        (
            {"says": "Error: checksum mismatch\ndiff 0 address 0x08000010. Was 0xff"},
            r"the flash does not hold what was written \(diff 0 address 0x08000010\. Was 0xff\)",
        ),
        ({"says": "Error: stm32x device protected", "status": 1}, "its flash is protected; lift it by STM32"),
        ({"says": "Error: open failed\n", "status": 1, "aloud": True}, "there is no debug probe that it can"),
        ({"says": "Error: init mode failed (unable to connect to the target)", "status": 1}, "init mode"),
        ({"says": "Error: timed out waiting for flash", "status": 1}, "timed out waiting for flash;"),
        (
            {"says": "embedded:startup.tcl:28: Error: Can't find target/moon.cfg", "status": 1},
            "embedded:startup.tcl:28: Error: Can't find target/moon.cfg;",
        ),
    ],
)
def test_a_load_is_believed_only_if_openocd_says_so(
    openocd: StandIn, tmp_path: Path, says: str | dict[str, object], why: str
) -> None:
    openocd.says(says)
    with pytest.raises(CaptureError, match=rf"^OpenOCD cannot load the board: {why}.*bench\.toml\."):
        loader().programmer().load(elf(tmp_path, *FIRMWARE), IMAGE)


UNANSWERED = {"says": "Error: init mode failed (unable to connect to the target)", "status": 1}


def test_a_core_that_does_not_answer_is_tried_once_more_with_its_reset_held(
    openocd: StandIn, tmp_path: Path
) -> None:
    openocd.says(UNANSWERED, LOADED)
    programmer = loader().programmer()
    programmer.load(elf(tmp_path, *FIRMWARE), IMAGE)
    first, second = (" ".join(call) for call in openocd.calls)
    assert "connect_assert_srst" not in first and "connect_assert_srst" in second
    assert programmer.connection.remarks[0].startswith("OpenOCD reached the board only with its reset held")


def test_a_core_that_does_not_answer_under_reset_either_is_told_with_advice(openocd: StandIn) -> None:
    openocd.says(UNANSWERED)
    with pytest.raises(CaptureError, match=r"unable to connect.*Holding its reset did not help: check"):
        loader().programmer().reset()
    assert len(openocd.calls) == 2


def test_a_probe_that_is_not_there_is_named(openocd: StandIn) -> None:
    openocd.says({"says": "Info : No device matches the serial string\nError: open failed", "status": 1})
    with pytest.raises(CaptureError, match="cannot reset the board: there is no debug probe 0667FF that"):
        loader(probe="0667FF").programmer().reset()


def test_a_reset_that_complains_with_status_0_is_none(openocd: StandIn) -> None:
    openocd.says("Error: timed out while waiting for target halted")
    with pytest.raises(CaptureError, match="OpenOCD cannot reset the board: timed out while waiting"):
        loader().programmer().reset()


def test_an_openocd_that_hangs_is_ended(openocd: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader_tool, "TIMEOUT_S", 0.5)
    openocd.says({"sleeps": 60})
    with pytest.raises(CaptureError, match=r"^OpenOCD did not finish within 0\.5 s and was ended; press"):
        loader().programmer().reset()


def test_an_openocd_that_is_nowhere_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(CaptureError, match=r"^OpenOCD is not there \(openocd on PATH\): install it, on"):
        loader().programmer().reset()
    with pytest.raises(CaptureError, match=r"^OpenOCD is not there \(/opt/openocd\): "):
        loader(program="/opt/openocd").programmer().reset()


def test_an_elf_file_that_is_none_is_one_sentence(openocd: StandIn, tmp_path: Path) -> None:
    (tmp_path / "none.elf").write_bytes(b"\x7fELF and no more")
    for name in ("none.elf", "nowhere.elf"):
        with pytest.raises(CaptureError, match=rf"{name} (is a damaged ELF file|cannot be read)"):
            loader().programmer().load(tmp_path / name, b"")
    assert openocd.calls == []


def test_the_version_is_openocds(openocd: StandIn) -> None:
    openocd.says({"says": "Open On-Chip Debugger 0.12.0\nLicensed under GNU GPL v2", "aloud": True})
    assert loader().programmer().tools() == {"openocd": "0.12.0"}
