"""probe-rs against a stand-in that says what probe-rs 0.32 prints (its source), and worse."""

from __future__ import annotations

from pathlib import Path

import pytest

from base.files.errors import CaptureError
from capture.desk.bench import LoaderResource
from capture.desk.loaders.tests.stand_in import StandIn, elf

DONE, SAME = "      Finished in 1.56s\n", "Verification successful\n"
DIFFERENT = "Verification failed: contents do not match\n"
FIRMWARE = (0x0800_0000, b"firmware")


@pytest.fixture
def probe_rs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    return StandIn.on_path(tmp_path, "probe-rs", monkeypatch)


def loader(**more: object) -> LoaderResource:
    return LoaderResource.model_validate({"kind": "probe-rs", "target": "STM32F401RETx", **more})


def test_both_are_written_and_then_compared(probe_rs: StandIn, tmp_path: Path) -> None:
    probe_rs.says(DONE, DONE, SAME, SAME)
    loader().programmer().load(elf(tmp_path, FIRMWARE), b"operations")
    assert [(call[0], call[-1]) for call in probe_rs.calls] == [
        ("download", "firmware.elf"),
        ("download", "operations.bin"),
        ("verify", "firmware.elf"),
        ("verify", "operations.bin"),
    ]
    for call in probe_rs.calls:
        assert call[1:6] == ["--non-interactive", "--chip", "STM32F401RETx", "--protocol", "swd"]
        assert ("0x08040000" in call) == ("operations.bin" in call)
    assert (probe_rs.kept(1) / "operations.bin").read_bytes() == b"operations"


def test_what_bench_toml_says_reaches_it(probe_rs: StandIn) -> None:
    more = {"probe": "0483:374b:0667FF", "speed_khz": 480, "interface": "JTAG", "arguments": ["--verbose"]}
    loader(**more).programmer().reset()
    words = " ".join(probe_rs.calls[0])
    for said in ("reset ", "--probe 0483:374b:0667FF", "--speed 480", "--protocol jtag", "--verbose"):
        assert said in words


def test_a_difference_is_told_with_status_0_and_believed(probe_rs: StandIn, tmp_path: Path) -> None:
    probe_rs.says(DONE, DIFFERENT)
    with pytest.raises(
        CaptureError, match="probe-rs cannot load the board: the flash does not hold what was"
    ):
        loader().programmer().load(elf(tmp_path, FIRMWARE), b"")


@pytest.mark.parametrize(
    ("scenes", "why"),
    [
        ([DONE, ""], "it does not say that the flash holds what was written"),
        (
            [{"says": "Error: No connected probes were found.", "status": 1, "aloud": True}],
            "there is no debug probe that it can open",
        ),
        (
            [
                {
                    "says": "Error: Connecting failed.\n\nCaused by:\n    0: An ARM error\n"
                    "    1: The target is in a low-power state",
                    "status": 1,
                }
            ],
            "The target is in a low-power state",
        ),
        (
            [{"says": "Error: The core is locked. Use --allow-erase-all", "status": 1}],
            "its flash is protected; lift it by STM32CubeProgrammer",
        ),
    ],
)
def test_a_load_is_believed_only_if_probe_rs_says_so(
    probe_rs: StandIn, tmp_path: Path, scenes: list[str | dict[str, object]], why: str
) -> None:
    probe_rs.says(*scenes)
    with pytest.raises(CaptureError, match=rf"^probe-rs cannot load the board: {why}.*bench\.toml\."):
        loader().programmer().load(elf(tmp_path, FIRMWARE), b"")


def test_a_core_that_does_not_answer_is_tried_once_more_with_its_reset_held(
    probe_rs: StandIn, tmp_path: Path
) -> None:
    probe_rs.says({"says": "Error: Connecting to the chip was unsuccessful.", "status": 1}, DONE, SAME)
    programmer = loader().programmer()
    programmer.load(elf(tmp_path, FIRMWARE), b"")
    held = ["--connect-under-reset" in call for call in probe_rs.calls]
    assert held == [False, True, False]
    assert programmer.connection.remarks[0].startswith("probe-rs reached the board only with its reset held")


def test_the_version_is_probe_rs(probe_rs: StandIn) -> None:
    probe_rs.says("probe-rs 0.32.0 (git commit: 0123abc)")
    assert loader().programmer().tools() == {"probe_rs": "0.32.0 (git commit: 0123abc)"}


def test_the_serial_number_is_behind_the_ids() -> None:
    assert loader(probe="0483:374b").serial_number == ""
    assert loader(probe="0483:374b:0667FF").serial_number == "0667FF"
