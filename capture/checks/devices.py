"""What of the desk the bench would use, what keeps it from running, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from capture.checks import rights
from capture.checks.host import Facts, Port, Probe, UsbDevice
from capture.desk.bench import BoardResource
from capture.desk.finding import Figure, Finding, State
from capture.desk.presets import Preset, of_driver, presets
from capture.desk.serial_ports import ST_LINKS, alike

# pyOCD, probe/stlink/stlink.py: MIN_JTAG_VERSION, and MIN_JTAG_VERSION_16BIT_XFER.
LEAST_FIRMWARE, WANTED_FIRMWARE = 24, 26
_ST_LINK_FIRMWARE = re.compile(r"V2J(\d+)")

Rule = Callable[[BoardResource, Facts], Iterator[Finding]]


def plugged_in(board: BoardResource, facts: Facts) -> Iterator[Finding]:
    """Analyzer, loader, probe and port of this board of bench.toml, and what else is plugged in."""
    loads = (_loader, _usb, _analyzers, _probes, _ports)
    rules: tuple[Rule, ...] = loads if board.loader.kind != "none" else (_usb, _analyzers)
    for rule in (_faults, *rules):
        yield from rule(board, facts)


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
        yield Finding("loader", "right", words)


def _analyzers(board: BoardResource, facts: Facts) -> Iterator[Finding]:
    analyzer = board.analyzer
    used = facts.chosen[0] if len(facts.chosen) == 1 else None
    for device in facts.analyzers:
        at = f" at {device.connection}" if device.connection else ""
        words = f"{device.driver}{at}: {device.title}, {len(device.inputs)} inputs"
        yield Finding("analyzer", "right" if device == used else "there", words)
    if used and used not in facts.analyzers:
        yield Finding("analyzer", "right", f"{used.driver} at {analyzer.connection}: {used.title}")
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
    chosen = _chosen_probes(board, facts)
    for probe in facts.probes:
        state: State = "right" if chosen == [probe] else "there"
        yield Finding("probe", state, f"{probe.unique_id}: {probe.title}")
    if len(chosen) > 1:
        words = f"{len(chosen)} probes answer: write the id of one as probe into bench.toml."
        yield Finding("probe", "wrong", words)
    elif chosen:
        return
    elif board.loader.way and board.loader.way.program:
        title = board.loader.way.title
        words = f"pyOCD, which lists them, does not see it; that {title} finds it was not tried."
        yield Finding("probe", "odd", words)
    elif facts.probes:
        words = f"None has the id {board.loader.probe!r} of bench.toml: write one of those that are there."
        yield Finding("probe", "wrong", words)
    elif not facts.host_fault:
        words = "pyOCD finds none: connect the board by the USB connector of its ST-Link (CN1)."
        yield Finding("probe", "wrong", words)


def _chosen_probes(board: BoardResource, facts: Facts) -> list[Probe]:
    """Those that bench.toml means: pyOCD takes a part of an id, whatever its case."""
    wanted = board.loader.serial_number.lower()
    return [probe for probe in facts.probes if wanted in probe.unique_id.lower()]


def probe_firmware(board: BoardResource, facts: Facts) -> Iterator[Finding]:
    """Whether the firmware of the one probe is new enough, or why the probe cannot be opened."""
    chosen = _chosen_probes(board, facts)
    if len(chosen) != 1:
        words = f"Of {len(chosen) or 'no'} probes that pyOCD finds for the board, no firmware is looked at."
        yield Finding("probe", "skipped", words)
    for probe in chosen if len(chosen) == 1 else ():
        version = _ST_LINK_FIRMWARE.match(probe.firmware or "")
        number = int(version[1]) if version else WANTED_FIRMWARE
        update = "update it with ST's STSW-LINK007"
        older = f"Firmware {probe.firmware} is older than V2J"
        if number < LEAST_FIRMWARE:
            yield Finding("probe", "wrong", f"{older}{LEAST_FIRMWARE}, which pyOCD needs: {update}.")
        elif probe.fault:
            words = f"pyOCD cannot open it ({probe.fault}): end what else uses it, or replug the board."
            yield Finding("probe", "wrong", words)
        elif number < WANTED_FIRMWARE:
            yield Finding("probe", "odd", f"{older}{WANTED_FIRMWARE}: {update}.")
        elif probe.firmware:
            figures = (Figure("firmware", probe.firmware),)
            yield Finding("probe", "right", f"The probe has firmware {probe.firmware}.", (), figures)
        else:
            yield Finding("probe", "skipped", "This probe does not tell the version of its firmware.")


def _ports(board: BoardResource, facts: Facts) -> Iterator[Finding]:
    wanted = board.serial_port
    if "://" in wanted:
        yield Finding("port", "odd", f"{wanted} is no port of this machine and was not looked at.")
        return
    if facts.host_fault:
        return
    meant = _meant_ports(board, facts)
    for port in facts.ports:
        on_usb = f" ({port.usb_id})" if port.usb_id else ""
        yield Finding("port", "right" if meant == [port] else "there", f"{port.device}: {port.title}{on_usb}")
    if len(meant) > 1:
        words = f"{len(meant)} ports are {wanted}: write the probe's whole id, or a port, into bench.toml."
        yield Finding("port", "wrong", words)
    elif meant:
        yield from _of_port(meant[0], board, facts)
    else:
        yield Finding("port", "wrong", _no_port(board, facts))


def _meant_ports(board: BoardResource, facts: Facts) -> list[Port]:
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
    probes = _chosen_probes(board, facts)
    if len(probes) == 1 and port.serial_number not in (None, probes[0].unique_id):
        words = (
            f"{port.device} is on the ST-Link {port.serial_number}, and the probe is {probes[0].unique_id}: "
            "name port and probe of one board in bench.toml."
        )
        yield Finding("port", "wrong", words)


def may_use(board: BoardResource, facts: Facts) -> Iterator[Finding]:
    """What keeps this user from a device that is there: its node, the groups, ModemManager."""
    usb_ids = {usb_id for preset in presets().values() for usb_id in preset.devices}
    for device in facts.usb:
        if device.usb_id in usb_ids | ST_LINKS and not device.accessible:
            yield Finding("usb", "wrong", _rule(device, facts))
    ports = _meant_ports(board, facts) if board.serial_port else []
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
            f"records may go to it. {rights.command()}"
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
    there = f"{closed} {rights.INSTALLED} is there"
    if facts.rules != rights.text():
        return f"{closed} {rights.command()}"
    if rights.GROUP in facts.groups:
        return f"{there}, and you are in {rights.GROUP}: replug it, and log in again."
    return (
        f"{there}: replug it; if that does not help, as where you log in by ssh, "
        f"sudo usermod -aG {rights.GROUP} $USER, and log in again."
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
