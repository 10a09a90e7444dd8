"""What of the desk the bench would use, what keeps it from running, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from capture.desk.bench import BoardResource
from capture.desk.loading import Way
from capture.desk.presets import Preset, of_driver, presets
from capture.desk.serial_ports import ST_LINKS, alike
from capture.survey import udev
from capture.survey.facts import Facts, Port, Probe, UsbDevice

State = Literal["used", "there", "odd", "wrong"]

# pyOCD, probe/stlink/stlink.py: MIN_JTAG_VERSION, and MIN_JTAG_VERSION_16BIT_XFER.
LEAST_FIRMWARE, WANTED_FIRMWARE = 24, 26
_ST_LINK_FIRMWARE = re.compile(r"V2J(\d+)")


@dataclass(frozen=True)
class Finding:
    """One thing that is there or is missing.

    `used` is what the bench takes, `there` is something else, `odd` is worth knowing, and `wrong`
    keeps the bench from running; its words say what to do.
    """

    subject: str
    state: State
    words: str


def advise(board: BoardResource, facts: Facts) -> tuple[Finding, ...]:
    """What the facts mean for this board of bench.toml."""
    rules = _RULES if board.loader.kind != "none" else (_faults, _analyzers, rights, _usb)
    return tuple(finding for rule in rules for finding in rule(board, facts))


def may_run(findings: tuple[Finding, ...]) -> bool:
    """Whether nothing keeps the bench from running."""
    return not any(finding.state == "wrong" for finding in findings)


Rule = Callable[[BoardResource, Facts], Iterator[Finding]]


def _faults(_board: BoardResource, facts: Facts) -> Iterator[Finding]:
    for subject, fault in (("analyzer", facts.scan_fault), ("probe", facts.host_fault)):
        if fault:
            yield Finding(subject, "wrong", fault)


def _loader(board: BoardResource, facts: Facts) -> Iterator[Finding]:
    """The tool that loads the board, where it is not pyOCD."""
    if facts.loader_fault:
        yield Finding("loader", "wrong", facts.loader_fault)
    elif facts.loader and board.loader.way:
        title = board.loader.way.title
        words = facts.loader if title.lower() in facts.loader.lower() else f"{title} {facts.loader}"
        yield Finding("loader", "used", words)


def _analyzers(board: BoardResource, facts: Facts) -> Iterator[Finding]:
    analyzer = board.analyzer
    used = facts.chosen[0] if len(facts.chosen) == 1 else None
    for found in facts.analyzers:
        at = f" at {found.connection}" if found.connection else ""
        words = f"{found.driver}{at}: {found.title}, {len(found.inputs)} inputs"
        yield Finding("analyzer", "used" if found == used else "there", words)
    if used and used not in facts.analyzers:
        yield Finding("analyzer", "used", f"{used.driver} at {analyzer.connection}: {used.title}")
    if facts.scan_fault:
        return
    if len(facts.chosen) > 1:
        listed = ", ".join(analyzer.connection or "?" for analyzer in facts.chosen)
        words = (
            f"{len(facts.chosen)} analyzers answer ({listed}): write the connection of one into bench.toml."
        )
        yield Finding("analyzer", "wrong", words)
    elif used is None:
        yield Finding("analyzer", "wrong", _no_analyzer(board, facts))
    else:
        missing = [name for name in analyzer.channels.values() if name not in used.inputs]
        if missing:
            words = f"It has no input {missing[0]}: name its own inputs under channels in bench.toml."
            yield Finding("analyzer", "wrong", words)


def _no_analyzer(board: BoardResource, facts: Facts) -> str:
    driver, connection = board.analyzer.driver, board.analyzer.connection
    if facts.analyzers:
        at = ", ".join(analyzer.connection or "?" for analyzer in facts.analyzers)
        return f"None is at the connection {connection!r} of bench.toml: write {at}, or drop the connection."
    return f"sigrok-cli finds none for the driver {driver}: plug it in, or name another preset in bench.toml."


def _probes(board: BoardResource, facts: Facts) -> Iterator[Finding]:
    chosen = chosen_probes(board, facts)
    for probe in facts.probes:
        version = f", firmware {probe.firmware}" if probe.firmware else ""
        state: State = "used" if chosen == [probe] else "there"
        yield Finding("probe", state, f"{probe.unique_id}: {probe.title}{version}")
    if len(chosen) > 1:
        words = f"{len(chosen)} probes answer: write the id of one as probe into bench.toml."
        yield Finding("probe", "wrong", words)
    elif chosen:
        yield from of_probe(chosen[0])
    elif way := _other_way(board):
        words = f"pyOCD, which lists them, does not see it; that {way.title} finds it was not tried."
        yield Finding("probe", "odd", words)
    elif facts.probes:
        words = f"None has the id {board.loader.probe!r} of bench.toml: write one of those that are there."
        yield Finding("probe", "wrong", words)
    elif not facts.host_fault:
        words = "pyOCD finds none: connect the board by the USB connector of its ST-Link (CN1)."
        yield Finding("probe", "wrong", words)


def _other_way(board: BoardResource) -> Way | None:
    """What loads the board instead of pyOCD; it may know probes that pyOCD does not."""
    way = board.loader.way
    return way if way and way.program else None


def chosen_probes(board: BoardResource, facts: Facts) -> list[Probe]:
    """Those that bench.toml means: pyOCD takes a part of an id, whatever its case."""
    wanted = board.loader.serial_number.lower()
    return [probe for probe in facts.probes if wanted in probe.unique_id.lower()]


def of_probe(probe: Probe) -> Iterator[Finding]:
    """What is wrong with the probe's firmware, or why it cannot be opened."""
    version = _ST_LINK_FIRMWARE.match(probe.firmware or "")
    number = int(version[1]) if version else WANTED_FIRMWARE
    update = "update it with ST's STSW-LINK007"
    if number < LEAST_FIRMWARE:
        words = f"Firmware {probe.firmware} is older than V2J{LEAST_FIRMWARE}, which pyOCD needs: {update}."
        yield Finding("probe", "wrong", words)
    elif probe.fault:
        words = f"pyOCD cannot open it ({probe.fault}): end what else uses it, or replug the board."
        yield Finding("probe", "wrong", words)
    elif number < WANTED_FIRMWARE:
        words = f"Firmware {probe.firmware} is older than V2J{WANTED_FIRMWARE}: {update}."
        yield Finding("probe", "odd", words)


def _ports(board: BoardResource, facts: Facts) -> Iterator[Finding]:
    wanted = board.serial_port
    if "://" in wanted:
        yield Finding("port", "odd", f"{wanted} is no port of this machine and was not looked at.")
        return
    if facts.host_fault:
        return
    meant = meant_ports(board, facts)
    for port in facts.ports:
        on_usb = f" ({port.usb_id})" if port.usb_id else ""
        yield Finding("port", "used" if meant == [port] else "there", f"{port.device}: {port.title}{on_usb}")
    if len(meant) > 1:
        words = f"{len(meant)} ports are {wanted}: write the probe's whole id, or a port, into bench.toml."
        yield Finding("port", "wrong", words)
    elif meant:
        yield from _of_port(meant[0], board, facts)
    else:
        yield Finding("port", "wrong", _no_port(board, facts))


def meant_ports(board: BoardResource, facts: Facts) -> list[Port]:
    """Those that bench.toml means, by name or by USB id; of several the one of its probe."""
    wanted = board.serial_port.lower()
    if not wanted.startswith("usb:"):
        return [port for port in facts.ports if port.device == facts.serial_port]
    ports = [port for port in facts.ports if port.usb_id == wanted.removeprefix("usb:")]
    ports = ports or [port for port in facts.ports if port.usb_id in alike(wanted)]
    return [port for port in ports if port.serial_number == board.loader.serial_number] or ports


def _no_port(board: BoardResource, facts: Facts) -> str:
    links = [port.device for port in facts.ports if port.usb_id in ST_LINKS]
    if links:
        return f"There is no {board.serial_port}: write {' or '.join(links)}, an ST-Link's, into bench.toml."
    return f"There is no {board.serial_port}, and no port of an ST-Link: connect the board by USB."


def _of_port(port: Port, board: BoardResource, facts: Facts) -> Iterator[Finding]:
    if port.usb_id not in ST_LINKS:
        yield Finding("port", "odd", f"{port.device} is no port of an ST-Link: see that it is the board's.")
        return
    probes = chosen_probes(board, facts)
    if len(probes) == 1 and port.serial_number not in (None, probes[0].unique_id):
        words = (
            f"{port.device} is on the ST-Link {port.serial_number}, and the probe is {probes[0].unique_id}: "
            "name port and probe of one board in bench.toml."
        )
        yield Finding("port", "wrong", words)


def rights(board: BoardResource, facts: Facts) -> Iterator[Finding]:
    """What keeps this user from a device that is there: its node, the groups, ModemManager."""
    usb_ids = {usb_id for preset in presets().values() for usb_id in preset.devices}
    for device in facts.usb:
        if device.usb_id in usb_ids | ST_LINKS and not device.accessible:
            yield Finding("usb", "wrong", _rule(device, facts))
    ports = meant_ports(board, facts) if board.serial_port else []
    for port in ports if len(ports) == 1 else []:
        yield from _rights_of_port(port, facts)


def _rights_of_port(port: Port, facts: Facts) -> Iterator[Finding]:
    if port.group is not None:
        how = (
            f"you are in {port.group}, but were not when you logged in: log in again"
            if port.group in facts.groups
            else f"sudo usermod -aG {port.group} $USER, and log in again"
        )
        yield Finding("port", "wrong", f"{port.device} may not be used by you: {how}.")
    if facts.modem_manager and not port.no_modem:
        words = (
            f"ModemManager runs and takes {port.device} for a modem: for half a minute after you plug it in, "
            f"records may go to it. {udev.command()}"
        )
        yield Finding("port", "odd", words)


def _usb(board: BoardResource, facts: Facts) -> Iterator[Finding]:
    """What of the kernel's devices the tools perhaps do not see."""
    matching = board.analyzer.known or of_driver(board.analyzer.driver)
    for device in facts.usb:
        preset = next((entry for entry in presets().items() if device.usb_id in entry[1].devices), None)
        if preset is None:
            continue
        name, row = preset
        if row.refused:
            yield Finding("usb", "odd", f"{row.title} ({device.usb_id}): {row.refused}.")
        elif row is not matching:
            words = f'{row.title} ({device.usb_id}) is plugged in: for it, write preset = "{name}".'
            yield Finding("usb", "odd", words)
        elif missing := _missing_firmware(device, row, facts):
            yield Finding("usb", "wrong", missing)


def _rule(device: UsbDevice, facts: Facts) -> str:
    """How to be let in: by our rules; where these are there, by a new login."""
    closed = f"{device.usb_id} is plugged in, but {device.node} may not be used by you."
    if facts.rules != udev.text():
        return f"{closed} {udev.command()}"
    if udev.GROUP in facts.groups:
        return (
            f"{closed} {udev.INSTALLED} is there, and you are in {udev.GROUP}: replug it, and log in again."
        )
    return (
        f"{closed} {udev.INSTALLED} is there: replug it; if that does not help, as where you log in by ssh, "
        f"sudo usermod -aG {udev.GROUP} $USER, and log in again."
    )


def _missing_firmware(device: UsbDevice, preset: Preset, facts: Facts) -> str:
    """Why libsigrok cannot load the device; empty if it can, or need not."""
    file = preset.devices[device.usb_id]
    if not file or file in facts.firmware or [device.manufacturer, device.product] == preset.loaded:
        return ""
    folders = ", ".join(facts.firmware_folders)
    get = (
        "sudo apt-get install sigrok-firmware-fx2lafw"
        if file.startswith("fx2lafw-")
        else f"get it as sigrok's wiki says of {preset.driver}"
    )
    return f"{device.usb_id} needs {file}, and libsigrok finds none in {folders}: {get}."


_RULES: tuple[Rule, ...] = (_faults, _loader, rights, _usb, _analyzers, _probes, _ports)
