"""What is said of a desk: facts are made up, sentences are checked."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyocd.probe.stlink.stlink import STLink
from pyocd.probe.stlink.usb import STLinkUSBInterface

from capture.checks import devices, rights
from capture.checks.facts import Analyzer, Facts, Port, Probe, UsbDevice
from capture.desk.bench import BoardResource, LoaderResource, read_bench
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


def test_of_a_board_that_nobody_loads_the_analyzer_alone_is_looked_at() -> None:
    board = replace(entry(), loader=LoaderResource(kind="none"), serial_port="")
    assert [finding.subject for finding in advise(board, READY)] == ["analyzer"]


OPENOCD = replace(
    entry(), loader=LoaderResource.model_validate({"kind": "openocd", "target": "target/stm32f4x.cfg"})
)


def test_the_tool_that_loads_is_looked_at_where_it_is_not_pyocd() -> None:
    (used, *_) = advise(OPENOCD, replace(READY, loader="0.12.0"))
    assert (used.subject, used.state, used.words) == (
        "loader",
        "right",
        "OpenOCD 0.12.0",
    )
    missing = advise(OPENOCD, replace(READY, loader_fault="OpenOCD is not there (openocd on PATH): get it."))
    assert not may_run(missing) and missing[0].words.startswith("OpenOCD is not there")


def test_a_probe_that_pyocd_does_not_know_may_be_known_to_another() -> None:
    findings = advise(OPENOCD, replace(READY, probes=(), loader="0.12.0"))
    (probe,) = [finding for finding in findings if finding.subject == "probe"]
    assert (probe.state, may_run(findings)) == ("odd", True)


TWO_PROBES = replace(READY, probes=(PROBE, replace(PROBE, unique_id="0668AA")))


@pytest.mark.parametrize(
    ("board", "facts", "subject"),
    [
        (entry(), replace(READY, analyzers=(), chosen=()), "analyzer"),
        (entry(), replace(READY, analyzers=(LOGIC, OTHER), chosen=(LOGIC, OTHER)), "analyzer"),
        (entry(connection="1.9"), replace(READY, chosen=()), "analyzer"),
        (entry(), replace(READY, chosen=(replace(LOGIC, inputs=EIGHT[:7]),), analyzers=()), "analyzer"),
        (entry(), replace(READY, scan_fault="It hangs."), "analyzer"),
        (entry(), replace(READY, probes=()), "probe"),
        (entry(), TWO_PROBES, "probe"),
        (entry(probe="0700"), READY, "probe"),
        (entry(), replace(READY, probes=(replace(PROBE, firmware="V2J20M4", fault="unsupported"),)), "probe"),
        (entry(), replace(READY, probes=(replace(PROBE, firmware=None, fault="Access denied"),)), "probe"),
        (entry(), replace(READY, ports=(replace(PORT, device="/dev/ttyACM1"),)), "port"),
        (entry(), replace(READY, ports=()), "port"),
        (entry(), replace(READY, ports=(replace(PORT, group="dialout"),)), "port"),
        (entry(probe="0668"), TWO_PROBES, "port"),
        (
            entry(),
            replace(READY, usb=(replace(BARE, accessible=False, manufacturer="sigrok", product="fx2lafw"),)),
            "usb",
        ),
        (entry(), replace(READY, usb=(CLOSED,), rules=rights.text()), "usb"),
        (entry(), replace(READY, usb=(CLOSED,), rules=rights.text(), groups=("plugdev",)), "usb"),
        (
            entry(),
            replace(READY, ports=(replace(PORT, group="dialout"),), groups=("audio", "dialout")),
            "port",
        ),
        (
            entry(),
            replace(READY, usb=(UsbDevice("0483:374b", "ST", "", "/dev/bus/usb/001/003", False),)),
            "usb",
        ),
        (entry(), replace(READY, usb=(BARE,)), "usb"),
        (entry(), replace(READY, host_fault="It hangs."), "probe"),
        (
            entry(port="usb:0483:374B"),
            replace(READY, ports=(PORT, replace(PORT, device="/dev/ttyACM1", serial_number="0668AA"))),
            "port",
        ),
        (entry(port="usb:0483:374B"), replace(READY, ports=()), "port"),
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
        replace(READY, usb=(UsbDevice("21a9:1004", "", "", "/dev/bus/usb/001/009", True),)),
        replace(READY, probes=(replace(PROBE, firmware="V2J25M10"),)),
        replace(READY, ports=(Port("/dev/ttyACM0", "1a86:7523", None, "USB Serial"),)),
    ],
)
def test_what_is_odd_keeps_nothing_from_running(facts: Facts, sentences: Sentences) -> None:
    findings = advise(entry(), facts)
    (odd,) = [finding for finding in findings if finding.state == "odd"]
    sentences.hold(odd.words)
    assert may_run(findings)


def test_a_modem_manager_that_takes_the_port_is_odd_until_it_is_told_not_to() -> None:
    findings = advise(entry(), replace(READY, modem_manager=True))
    (odd,) = [finding for finding in findings if finding.state == "odd"]
    assert odd.words.startswith("ModemManager runs and takes /dev/ttyACM0 for a modem: ")
    assert "sudo install -m 644 " in odd.words and may_run(findings)
    facts = replace(READY, modem_manager=True, ports=(replace(PORT, no_modem=True),))
    assert all(finding.state == "right" for finding in advise(entry(), facts))


@pytest.mark.parametrize("product", ["3752", "374e", "374f", "3753", "3754", "3757"])
def test_another_st_link_stands_for_that_of_bench_toml(product: str) -> None:
    """An ST-Link's id changes with its firmware; a board's own stands before another's."""
    port = replace(PORT, usb_id=f"0483:{product}")
    for ports, used in (((port,), port), ((port, replace(PORT, device="/dev/ttyACM1")), None)):
        findings = advise(entry(port="usb:0483:374B"), replace(READY, ports=ports))
        device = used.device if used else "/dev/ttyACM1"
        assert [
            finding.words[: len(device)]
            for finding in findings
            if (finding.subject, finding.state) == ("port", "right")
        ] == [device]
    other = replace(PORT, usb_id="1a86:7523")
    assert not may_run(advise(entry(port="usb:0483:374B"), replace(READY, ports=(other,))))


def test_a_chosen_one_of_two_is_used() -> None:
    facts = replace(TWO_PROBES, analyzers=(LOGIC, OTHER), chosen=(LOGIC,))
    findings = advise(entry(connection="1.12", probe="0667ff"), facts)
    assert [(finding.subject, finding.state) for finding in findings] == [
        *(
            ("analyzer", "right"),
            ("analyzer", "there"),
            ("probe", "right"),
            ("probe", "there"),
            ("port", "right"),
        )
    ]


def test_a_port_by_its_usb_id_is_that_of_the_probe() -> None:
    other = replace(PORT, device="/dev/ttyACM1", serial_number="0668AA")
    facts = replace(TWO_PROBES, ports=(other, PORT))
    for board, ports in (
        (entry(probe="0667FF303", port="usb:0483:374B"), facts.ports),
        (entry(probe="0667FF303", port="usb:0483:374b"), (PORT,)),
    ):
        findings = advise(board, replace(facts, ports=ports))
        used = [
            finding.words for finding in findings if (finding.subject, finding.state) == ("port", "right")
        ]
        assert used == ["/dev/ttyACM0: STM32 STLink (0483:374b)"] and may_run(findings)


def test_a_bare_analyzer_whose_firmware_is_there_is_no_fault() -> None:
    facts = replace(READY, usb=(BARE,), firmware=frozenset({"fx2lafw-saleae-logic.fw"}))
    assert may_run(advise(entry(), facts))


def test_a_port_elsewhere_is_not_looked_at() -> None:
    findings = advise(entry(port="socket://10.0.0.7:4000"), replace(READY, ports=()))
    assert may_run(findings) and findings[-1].words.startswith(
        "socket://10.0.0.7:4000 is no port of this machine"
    )


def test_the_figures_of_pyocd_are_those_of_pyocd() -> None:
    assert devices.LEAST_FIRMWARE == STLink.MIN_JTAG_VERSION
    assert devices.WANTED_FIRMWARE == STLink.MIN_JTAG_VERSION_16BIT_XFER
    assert {f"0483:{product:04x}" for product in STLinkUSBInterface.USB_PID_EP_MAP} == ST_LINKS


def test_each_usb_id_belongs_to_one_preset() -> None:
    ids = [usb_id for preset in presets().values() for usb_id in preset.devices]
    assert len(ids) == len(set(ids)) and all(usb_id == usb_id.lower() for usb_id in ids)
