"""What is said of a desk: facts are made up, sentences are checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from pyocd.probe.stlink.stlink import STLink
from pyocd.probe.stlink.usb import STLinkUSBInterface

from base.run_folder.edges import EdgeList
from base.run_folder.manifest import Serial
from capture.acquisition.saleae import Device
from capture.checks import devices
from capture.checks.captures import of_rest, of_serial
from capture.checks.devices import RULES, Facts, Probe, UsbDevice
from capture.checks.findings import Figure, Finding
from capture.desk.bench import BoardResource, read_bench
from capture.desk.presets import presets
from capture.desk.serial_ports import ST_LINKS, Port
from tests.sentences import Sentences
from tests.tables import table

Findings = list[Finding]


def advise(board: BoardResource, facts: Facts) -> Findings:
    """What all checks of the devices find."""
    return [
        *devices.may_use(board, facts),
        *devices.plugged_in(board, facts),
    ]


def may_run(findings: Findings) -> bool:
    return all(finding.state != "wrong" for finding in findings)


NUCLEO = read_bench().board("nucleo")
EIGHT = tuple(f"D{number}" for number in range(8))
LOGIC = Device("fx2lafw", "1.12", "Saleae Logic", EIGHT)
PROBE = Probe("0667FF303", "STMicroelectronics STM32 STLink", "V2J37M26")
PORT = Port("/dev/ttyACM0", "0483:374b", "0667FF303", "STM32 STLink")
LOGIC_USB = UsbDevice("0925:3881", "/dev/bus/usb/001/012", accessible=True)
READY = Facts(analyzers=(LOGIC,), probes=(PROBE,), ports=(PORT,), usb=(LOGIC_USB,))


def with_devices(changes: Mapping[str, Any]) -> Facts:
    """READY with other devices: each is the one there, changed."""
    content: dict[str, Any] = dict(changes)
    for name, changed in changes.items():
        if isinstance(changed, tuple) and name != "faults":
            content[name] = tuple(replace(getattr(READY, name)[0], **device) for device in changed)
    return replace(READY, **content)


def entry(connection: str = "", probe: str = "", port: str = "/dev/ttyACM0") -> BoardResource:
    return replace(
        NUCLEO,
        loader=NUCLEO.loader.model_copy(update={"probe": probe}),
        analyzer=NUCLEO.analyzer.model_copy(update={"connection": connection}),
        serial_port=port,
    )


def test_a_desk_that_is_ready() -> None:
    findings = advise(entry(), READY)
    assert [(finding.subject, finding.state, finding.words) for finding in findings] == [
        ("analyzer", "right", "fx2lafw: 1.12 (Saleae Logic)"),
        ("probe", "right", "0667FF303 (STMicroelectronics STM32 STLink), firmware V2J37M26"),
        ("port", "right", "/dev/ttyACM0: STM32 STLink 0483:374b"),
    ]
    assert may_run(findings)


@table
def test_what_keeps_the_bench_from_running(
    board: dict[str, str], facts: dict[str, Any], subject: str, sentences: Sentences
) -> None:
    findings = advise(entry(**board), with_devices(facts))
    wrong = [finding for finding in findings if finding.state == "wrong"]
    assert len(wrong) == 1 and wrong[0].subject == subject and not may_run(findings)
    sentences.hold(wrong[0].words)


@table
def test_what_is_odd_keeps_nothing_from_running(facts: dict[str, Any], sentences: Sentences) -> None:
    findings = advise(entry(), with_devices(facts))
    (odd,) = [finding for finding in findings if finding.state == "odd"]
    sentences.hold(odd.words)
    assert may_run(findings)


def test_the_figures_of_pyocd_are_those_of_pyocd() -> None:
    assert devices.LEAST_FIRMWARE == STLink.MIN_JTAG_VERSION
    assert {f"0483:{product:04x}" for product in STLinkUSBInterface.USB_PID_EP_MAP} == ST_LINKS


def test_the_shipped_rules_name_each_probe_and_each_analyzer() -> None:
    shipped = devices.read(RULES)
    for usb_id in (*ST_LINKS, *(device for preset in presets().values() for device in preset.devices)):
        vendor, product = usb_id.split(":")
        (line,) = [
            row
            for row in shipped.splitlines()
            if row.startswith('SUBSYSTEM=="usb", ') and f'"{vendor}"' in row and f'"{product}"' in row
        ]
        assert 'GROUP="plugdev"' in line and 'TAG+="uaccess"' in line, usb_id
    assert int(RULES.name.partition("-")[0]) < 73, "systemd acts on uaccess in 73-seat-late.rules"


# What the steps make of what came: records, pins at rest, clocks, captures that lost
# something.


WHOLE = Serial(bytes=5_234, records=175, checksum_failures=0, sequence_gaps=0, end_record=True)


def serial(**changed: int | bool) -> Serial:
    return WHOLE.model_copy(update=changed)


@pytest.mark.parametrize(
    ("came", "state", "says"),
    [
        (WHOLE, "right", "175 records came at 230,400 baud"),
        (serial(bytes=0, records=0), "wrong", "damaged or missing"),
        (serial(checksum_failures=1), "wrong", "damaged or missing"),
    ],
)
def test_records(came: Serial, state: str, says: str) -> None:
    finding = of_serial(came, 230_400)
    assert finding.state == state and says in finding.words


def test_pins_at_rest() -> None:
    """CRIT shows a pulse of one sample and one of three, and all others nothing."""
    quiet = EdgeList(np.array([0]), np.array([128], np.uint8), 24_000_000, 24_000_000)
    assert of_rest(quiet).state == "right"
    rows = np.array([0, 1_000, 1_001, 5_000, 5_003])
    noisy = EdgeList(rows, np.array([0, 1, 0, 1, 0], np.uint8), 24_000_000, 24_000_000)
    finding = of_rest(noisy)
    assert finding.state == "odd" and "CRIT 4 in 1 s" in finding.words
    assert finding.figures == (Figure("edges at rest", 4, n=8),)
