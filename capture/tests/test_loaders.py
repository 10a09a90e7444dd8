"""Each loader against a stand-in for its tool, which notes what it is asked and says its part.

OpenOCD's says what 0.12 said on the emulated desk, that of probe-rs what 0.32 prints by its source.
Neither a J-Link nor its program was there: the stand-in keeps the command file and plays a chip's
memory, and the bench believes what it reads back.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.constants import P_FLAGS

from base.files.errors import CaptureError
from capture.desk import labgrid
from capture.desk.bench import LOADERS, LoaderResource, read_bench
from capture.desk.loading import Loader

Scene = dict[str, Any]

PLAY = """\
import json, os, pathlib, shutil, sys
calls = pathlib.Path({folder!r}) / "calls"
number = len(list(calls.iterdir()))
kept = calls / str(number)
shutil.copytree(".", kept, ignore=shutil.ignore_patterns("calls"))
(kept / "arguments.json").write_text(json.dumps(sys.argv[1:]))
scenes = json.loads((calls.parent / "scenes.json").read_text())
scene = scenes[min(number, len(scenes) - 1)]
for name, content in scene.get("files", {{}}).items():
    pathlib.Path(name).write_bytes(bytes.fromhex(content))
print(scene.get("says", ""), file=sys.stderr if scene.get("aloud") else sys.stdout)
sys.exit(scene.get("status", 0))
"""
TARGETS = {"jlink": "STM32F401RE", "openocd": "target/stm32f4x.cfg", "probe-rs": "STM32F401RETx"}
FIRMWARE, IMAGE = {0x0800_0000: b"firmware", 0x0800_1000: b"far"}, b"operations"
READ = {
    "read8000000.bin": b"firmware".hex(),
    "read8001000.bin": b"far".hex(),
    "read8040000.bin": IMAGE.hex(),
}
UNREAD = {name: content for name, content in READ.items() if name != "read8040000.bin"}
SAME = {"says": "Verification successful"}
SOUND: dict[str, list[Scene]] = {
    "jlink": [{"says": "O.K."}, {"files": READ}],
    "openocd": [{"says": "verified 11 bytes in 0.199405s\nverified 10 bytes in 0.142986s"}],
    "probe-rs": [{}, {}, SAME, SAME],
}


class StandIn:
    """A tool of which each call plays a scene, the last one all that follow."""

    def __init__(self, folder: Path, *scenes: Scene) -> None:
        self.folder = folder / "tool"
        (self.folder / "calls").mkdir(parents=True)
        self.program = self.folder / "program"
        self.program.write_text(f"#!{sys.executable}\n" + PLAY.format(folder=str(self.folder)))
        self.program.chmod(0o755)
        (self.folder / "scenes.json").write_text(json.dumps(scenes))

    def file(self, call: int, name: str) -> bytes:
        """A file that the call ran beside."""
        return (self.folder / "calls" / str(call) / name).read_bytes()

    @property
    def calls(self) -> list[list[str]]:
        """The arguments of each call so far."""
        count = len(list((self.folder / "calls").iterdir()))
        return [json.loads(self.file(call, "arguments.json")) for call in range(count)]

    def loader(self, kind: str, **more: object) -> LoaderResource:
        return LoaderResource.model_validate(
            {"kind": kind, "target": TARGETS[kind], "program": str(self.program), **more}
        )


def elf(folder: Path) -> Path:
    """A 32-bit ARM ELF file with segments and nothing else (System V ABI, figures 1-3 and 2-1)."""
    headers, at = b"", 52 + 32 * len(FIRMWARE)
    for address, content in FIRMWARE.items():
        words = (1, at, address, address, len(content), len(content), P_FLAGS.PF_R, 4)
        headers += b"".join(word.to_bytes(4, "little") for word in words)
        at += len(content)
    start = b"\x7fELF\x01\x01\x01".ljust(16, b"\0") + (2).to_bytes(2, "little") + (40).to_bytes(2, "little")
    start += b"".join(word.to_bytes(4, "little") for word in (1, min(FIRMWARE), 52, 0, 0x0500_0400))
    start += b"".join(half.to_bytes(2, "little") for half in (52, 32, len(FIRMWARE), 40, 0, 0))
    file = folder / "my firmware {1}.elf"
    file.write_bytes(start + headers + b"".join(FIRMWARE.values()))
    return file


def test_j_link_reads_back_by_another_process_what_it_wrote(tmp_path: Path) -> None:
    tool = StandIn(tmp_path, *SOUND["jlink"])
    tool.loader("jlink", probe="123456", speed_khz=1000).programmer().load(elf(tmp_path), IMAGE)
    writes, reads = (tool.file(call, "commands.jlink").decode().splitlines() for call in (0, 1))
    assert writes == [
        *("ExitOnError 1", "r", "h"),
        *("loadfile 8000000.bin, 0x8000000", "loadfile 8001000.bin, 0x8001000"),
        *("loadfile 8040000.bin, 0x8040000", "qc"),
    ]
    assert reads[2:5] == [
        "savebin read8000000.bin, 0x8000000, 0x8",
        "savebin read8001000.bin, 0x8001000, 0x3",
        "savebin read8040000.bin, 0x8040000, 0xa",
    ]
    written = [tool.file(0, f"{address}.bin") for address in ("8000000", "8001000", "8040000")]
    assert written == [*FIRMWARE.values(), IMAGE]
    words = "-Device STM32F401RE -If SWD -Speed 1000 -SelectEmuBySN 123456"
    assert all(words in " ".join(call) for call in tool.calls)


def test_probe_rs_writes_both_and_then_compares(tmp_path: Path) -> None:
    tool = StandIn(tmp_path, *SOUND["probe-rs"])
    tool.loader("probe-rs").programmer().load(elf(tmp_path), IMAGE)
    assert [(call[0], call[-1]) for call in tool.calls] == [
        (step, file) for step in ("download", "verify") for file in ("firmware.elf", "operations.bin")
    ]
    for call in tool.calls:
        assert call[1:6] == ["--non-interactive", "--chip", "STM32F401RETx", "--protocol", "swd"]
        assert ("0x08040000" in call) == ("operations.bin" in call)
    assert tool.file(1, "operations.bin") == IMAGE


def test_what_bench_toml_says_stands_where_the_tool_reads_it(tmp_path: Path) -> None:
    tool = StandIn(tmp_path, {})
    loader = tool.loader("jlink", probe="123456", interface="JTAG", arguments=["-JTAGConf", "-1,-1"])
    loader.programmer().reset()
    words = "-Device STM32F401RE -If JTAG -Speed 4000 -SelectEmuBySN 123456 -JTAGConf -1,-1"
    assert words in " ".join(tool.calls[0])
    assert tool.file(0, "commands.jlink").decode().splitlines()[1:] == ["RSetType 2", "r", "g", "qc"]


@pytest.mark.parametrize(
    ("kind", "scenes", "why"),
    [
        ("openocd", [{"says": "verified 11 bytes"}], "it does not say that it compared all that it wrote"),
        # One byte of eleven is not compared.
        ("openocd", [{"says": "verified 10 bytes\nverified 10 bytes"}], "it does not say that it compared"),
        ("openocd", [{"says": "diff 0 address 0x08000010. Was 0xff"}], "diff 0 address 0x08000010. Was 0xff"),
        ("openocd", [{"says": "Error: init mode failed", "status": 1}], "Error: init mode failed"),
        ("openocd", [{"says": "Error: open failed", "status": 1, "aloud": True}], "Error: open failed"),
        ("probe-rs", [{}, {}, SAME, {"says": "Verify failed"}], "the flash does not hold what was written"),
        ("probe-rs", [{}, {}, SAME, {}], "the flash does not hold what was written"),
        ("probe-rs", [{"says": "Error: it\n0: x\n1: no probe", "status": 1, "aloud": True}], "no probe"),
        ("jlink", [{}, {"files": {**READ, "read8001000.bin": b"fat".hex()}}], "the flash does not hold what"),
        ("jlink", [{}, {"files": UNREAD}], "the flash does not hold what was written at 0x08040000"),
        ("jlink", [{"says": "Cannot connect to target."}], "Cannot connect to target"),
        ("jlink", [{}, {"says": "****** Error: Read protection is active"}], "Error: Read protection is"),
    ],
)  # fmt: skip
def test_a_load_is_believed_only_if_the_tool_says_so(
    kind: str, scenes: list[Scene], why: str, tmp_path: Path
) -> None:
    loader = StandIn(tmp_path, *scenes).loader(kind).programmer()
    words = re.escape(f"{LOADERS[kind].title} cannot load the board: {why}")
    with pytest.raises(CaptureError, match=rf"^{words}.*bench\.toml"):
        loader.load(elf(tmp_path), IMAGE)


@pytest.mark.parametrize("kind", ["openocd", "probe-rs"])
def test_a_core_that_does_not_answer_is_tried_once_more_with_its_reset_held(
    kind: str, tmp_path: Path
) -> None:
    tool = StandIn(tmp_path, {"says": "Error: unable to connect", "status": 1}, *SOUND[kind])
    programmer = tool.loader(kind).programmer()
    programmer.load(elf(tmp_path), IMAGE)
    held = [
        {"connect_assert_srst", "--connect-under-reset"} & set(" ".join(call).split()) for call in tool.calls
    ]
    assert not held[0] and held[1] and not any(held[2:])
    assert programmer.remarks[0].startswith(f"{LOADERS[kind].title} reached the board only with its reset")


@pytest.mark.parametrize(
    ("kind", "probe", "serial_number"),
    [
        ("probe-rs", "0483:374b:066DFF", "066DFF"),
        ("probe-rs", "0483:374b", ""),
        ("pyocd", "stlink:066DFF", "066DFF"),
        ("jlink", "123456", "123456"),
    ],
)
def test_the_serial_number_is_the_part_that_no_other_probe_has(
    kind: str, probe: str, serial_number: str
) -> None:
    resource = LoaderResource.model_validate({"kind": kind, "target": "chip", "probe": probe})
    assert resource.serial_number == serial_number


@pytest.mark.parametrize("kind", TARGETS)
def test_a_tool_that_is_nowhere_is_one_sentence(kind: str) -> None:
    resource = LoaderResource.model_validate({"kind": kind, "target": TARGETS[kind], "program": "/nowhere"})
    with pytest.raises(CaptureError, match=rf"^{LOADERS[kind].title} is not there \(/nowhere\): install"):
        resource.programmer().tools()


def test_a_tool_that_is_nowhere_is_not_called_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not there is not there with the board's reset held."""
    programmer = StandIn(tmp_path).loader("openocd", program="/nowhere").programmer()
    looked_for: list[object] = []
    monkeypatch.setattr("capture.desk.loading.shutil.which", looked_for.append)
    with pytest.raises(CaptureError, match=r"^OpenOCD is not there"):
        programmer.reset()
    assert looked_for == ["/nowhere"]


def test_a_tool_that_hangs_is_ended_and_tried_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hangs").write_text(f"#!/bin/sh\necho . >> {tmp_path}/calls\nsleep 60\n")
    (tmp_path / "hangs").chmod(0o755)
    resource = LoaderResource.model_validate(
        {"kind": "openocd", "target": TARGETS["openocd"], "program": str(tmp_path / "hangs")}
    )
    monkeypatch.setattr(Loader._run, "__defaults__", (None, 0.5))
    with pytest.raises(CaptureError, match=r"^OpenOCD did not finish within 0\.5 s and was ended; press"):
        resource.programmer().reset()
    assert (tmp_path / "calls").read_text() == ".\n.\n"


# Places of labgrid, from what labgrid-client 26.0.1 printed for its own coordinator.


PRINTED = """\
targets:
  b1:
    resources:
    - NetworkSerialPort: {name: RawSerialPort, host: vm, port: 34665, speed: 1000000}
    - NetworkSigrokUSBDevice:
        driver: fx2lafw
        channels: D1=CRIT,D0=OP,D2=STIM,D3=ISR,D4=TASK,D5=CTRL,D6=CISR,D7=SYNC
        host: localhost
        path: 1-1
        busnum: 1
        devnum: 2
    - NetworkUSBDebugger: {host: localhost, path: 1-2, vendor_id: 1155, model_id: 14155}
    - NetworkPowerPort: {host: switch, index: 3}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a labgrid-client on the PATH reads what it prints, and counts its calls."""
    client = tmp_path / "labgrid-client"
    client.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\ncat {tmp_path}/says\n')
    client.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    (tmp_path / "1-2").mkdir()
    (tmp_path / "1-2" / "serial").write_text("066DFF33\n")
    monkeypatch.setattr(labgrid, "SYSFS", tmp_path)
    labgrid._environment.cache_clear()
    return tmp_path


def test_port_analyzer_and_probe_are_the_places(folder: Path) -> None:
    (folder / "says").write_text(PRINTED)
    resource = read_bench().board("place:nucleo-1")
    assert (resource.name, resource.serial_port) == ("nucleo_1", "rfc2217://vm:34665")
    assert (resource.analyzer.driver, resource.analyzer.connection) == ("fx2lafw", "1.2")
    assert (resource.analyzer.channels["CRIT"], resource.analyzer.channels["OP"]) == ("D1", "D0")
    assert (resource.loader.kind, resource.loader.probe) == ("pyocd", "066DFF33")
    read_bench().board("place:nucleo-1")
    assert (folder / "calls").read_text() == "-p nucleo-1 env\n", "asked once"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("busnum: 1", "busnum: null"),
        ("port: 34665", "port: null"),
        ("path: 1-2", "path: 1-9"),
        ("host: localhost", "host: far"),
        ("D7=SYNC", "D7=CRIT"),
        ("targets:", "{"),
        ("NetworkPowerPort: {host: switch", "NetworkUSBDebugger: {path: 1-2"),
    ],
)
def test_a_place_that_will_not_do_is_one_sentence(folder: Path, before: str, after: str) -> None:
    (folder / "says").write_text(PRINTED.replace(before, after))
    with pytest.raises(
        CaptureError, match=r"^What labgrid-client says of the place 'b1' will not do"
    ) as error:
        read_bench().board("place:b1")
    assert "Traceback" not in str(error.value)


def test_a_place_without_a_device_of_the_bench_will_not_do(folder: Path) -> None:
    (folder / "says").write_text("targets: {b1: {resources: [NetworkPowerPort: {host: switch}]}}")
    with pytest.raises(
        CaptureError, match=r"^What labgrid-client says of the place 'b1' will not do \(of port"
    ):
        read_bench().board("place:b1")
