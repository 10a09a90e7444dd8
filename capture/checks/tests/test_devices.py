"""What is said of a desk: facts are made up, sentences are checked."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyocd.probe.stlink.stlink import STLink
from pyocd.probe.stlink.usb import STLinkUSBInterface

from capture.checks import devices, rights
from capture.checks.host import Analyzer, Facts, Port, Probe, UsbDevice
from capture.desk.bench import BoardResource, read_bench
from capture.desk.finding import Finding
from capture.desk.presets import presets
from capture.desk.serial_ports import ST_LINKS
from tests.sentences import Sentences

Findings = list[Finding]


def advise(board: BoardResource, facts: Facts) -> Findings:
    """What all checks of the devices find, but that nothing is amiss with the probe's firmware."""
    return [
        *devices.may_use(board, facts),
        *devices.plugged_in(board, facts),
        *(row for row in devices.probe_firmware(board, facts) if row.state in ("odd", "wrong")),
    ]


def may_run(findings: Findings) -> bool:
    return all(finding.state != "wrong" for finding in findings)


NUCLEO = read_bench().board("nucleo")
EIGHT = tuple(f"D{number}" for number in range(8))
LOGIC = Analyzer("fx2lafw", "1.12", "Saleae Logic", EIGHT)
OTHER = Analyzer("fx2lafw", "1.14", "Saleae Logic", EIGHT)
PROBE = Probe("0667FF303", "STMicroelectronics STM32 STLink", "V2J37M26")
PORT = Port("/dev/ttyACM0", "0483:374b", "0667FF303", "STM32 STLink")
BARE = UsbDevice("0925:3881", "", "", "/dev/bus/usb/001/012", accessible=True)
CLOSED = UsbDevice("0483:374b", "ST", "", "/dev/bus/usb/001/003", False)
READY = Facts(
    analyzers=(LOGIC,),
    chosen=(LOGIC,),
    probes=(PROBE,),
    ports=(PORT,),
    usb=(replace(BARE, manufacturer="sigrok", product="fx2lafw"),),
    serial_port="/dev/ttyACM0",
    firmware_folders=("/usr/share/sigrok-firmware",),
)


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
        ("analyzer", "right", "fx2lafw at 1.12: Saleae Logic, 8 inputs"),
        ("probe", "right", "0667FF303: STMicroelectronics STM32 STLink"),
        ("port", "right", "/dev/ttyACM0: STM32 STLink (0483:374b)"),
    ]
    assert may_run(findings)


TWO_PROBES = replace(READY, probes=(PROBE, replace(PROBE, unique_id="0668AA")))


@pytest.mark.parametrize(
    ("board", "facts", "subject"),
    [
        (entry(), replace(READY, analyzers=(), chosen=()), "analyzer"),
        (entry(), replace(READY, analyzers=(LOGIC, OTHER), chosen=(LOGIC, OTHER)), "analyzer"),
        (entry(), replace(READY, chosen=(replace(LOGIC, inputs=EIGHT[:7]),), analyzers=()), "analyzer"),
        (entry(), replace(READY, scan_fault="It hangs."), "analyzer"),
        (entry(), replace(READY, probes=()), "probe"),
        (entry(probe="0700"), READY, "probe"),
        (entry(), replace(READY, probes=(replace(PROBE, firmware="V2J20M4", fault="unsupported"),)), "probe"),
        (entry(), replace(READY, ports=(replace(PORT, device="/dev/ttyACM1"),)), "port"),
        (entry(), replace(READY, ports=(replace(PORT, group="dialout"),)), "port"),
        (entry(probe="0668"), TWO_PROBES, "port"),
        (entry(), replace(READY, usb=(CLOSED,), rules=rights.text()), "usb"),
        (entry(), replace(READY, usb=(BARE,)), "usb"),
        (
            entry(port="usb:0483:374B"),
            replace(READY, ports=(PORT, replace(PORT, device="/dev/ttyACM1", serial_number="0668AA"))),
            "port",
        ),
    ],
)
def test_what_keeps_the_bench_from_running(
    board: BoardResource, facts: Facts, subject: str, sentences: Sentences
) -> None:
    findings = advise(board, facts)
    wrong = [finding for finding in findings if finding.state == "wrong"]
    assert len(wrong) == 1 and wrong[0].subject == subject and not may_run(findings)
    sentences.hold(wrong[0].words)


@pytest.mark.parametrize(
    "facts",
    [
        replace(READY, usb=(UsbDevice("2a0e:0020", "", "", "/dev/bus/usb/001/009", True),)),
        replace(READY, probes=(replace(PROBE, firmware="V2J25M10"),)),
    ],
)
def test_what_is_odd_keeps_nothing_from_running(facts: Facts, sentences: Sentences) -> None:
    findings = advise(entry(), facts)
    (odd,) = [finding for finding in findings if finding.state == "odd"]
    sentences.hold(odd.words)
    assert may_run(findings)


def test_a_bare_analyzer_whose_firmware_is_there_is_no_fault() -> None:
    facts = replace(READY, usb=(BARE,), firmware=frozenset({"fx2lafw-saleae-logic.fw"}))
    assert may_run(advise(entry(), facts))


def test_the_figures_of_pyocd_are_those_of_pyocd() -> None:
    assert devices.LEAST_FIRMWARE == STLink.MIN_JTAG_VERSION
    assert devices.WANTED_FIRMWARE == STLink.MIN_JTAG_VERSION_16BIT_XFER
    assert {f"0483:{product:04x}" for product in STLinkUSBInterface.USB_PID_EP_MAP} == ST_LINKS


def test_the_shipped_rules_name_each_probe_and_each_analyzer() -> None:
    shipped = rights.text()
    for usb_id in (*ST_LINKS, *(device for preset in presets().values() for device in preset.devices)):
        vendor, product = usb_id.split(":")
        (line,) = [
            row
            for row in shipped.splitlines()
            if row.startswith('SUBSYSTEM=="usb", ') and f'"{vendor}"' in row and f'"{product}"' in row
        ]
        assert 'GROUP="plugdev"' in line and 'TAG+="uaccess"' in line, usb_id
    assert int(rights.FILE.name.partition("-")[0]) < 73, "systemd acts on uaccess in 73-seat-late.rules"
