"""Who may use a device: the shipped rules, the user database, and what udev keeps of a port."""

from __future__ import annotations

import os
from pathlib import Path

from capture.checks import rights
from capture.checks.rights import modem_manager_runs
from capture.desk.presets import presets
from capture.desk.serial_ports import ST_LINKS


def test_the_shipped_rules_name_each_probe_and_each_analyzer() -> None:
    shipped = rights.FILE.read_text(encoding="utf-8")
    assert shipped == rights.text()
    for usb_id in (*ST_LINKS, *(device for preset in presets().values() for device in preset.devices)):
        vendor, product = usb_id.split(":")
        (line,) = [
            row
            for row in shipped.splitlines()
            if row.startswith('SUBSYSTEM=="usb", ') and f'"{vendor}"' in row and f'"{product}"' in row
        ]
        assert 'GROUP="plugdev"' in line and 'TAG+="uaccess"' in line, usb_id
    assert int(rights.FILE.name.partition("-")[0]) < 73, "systemd acts on uaccess in 73-seat-late.rules"


def test_modem_manager_is_found_by_its_name(tmp_path: Path) -> None:
    for number, name in ((7, "bash"), (12, "systemd")):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "comm").write_text(f"{name}\n")
    assert not modem_manager_runs(tmp_path)
    (tmp_path / "12" / "comm").write_text("ModemManager\n")
    assert modem_manager_runs(tmp_path)


def test_what_udev_keeps_of_a_port_is_read(tmp_path: Path) -> None:
    node = Path("/dev/null")
    number = node.stat().st_rdev
    assert not rights.left_alone_by_modem_manager(node, tmp_path)
    path = tmp_path / f"c{os.major(number)}:{os.minor(number)}"
    path.write_text("I:1\nE:ID_MM_CANDIDATE=1\n")
    assert not rights.left_alone_by_modem_manager(node, tmp_path)
    path.write_text("I:1\nE:ID_MM_DEVICE_IGNORE=1\nE:ID_MM_CANDIDATE=1\n")
    assert rights.left_alone_by_modem_manager(node, tmp_path)
    assert not rights.left_alone_by_modem_manager(tmp_path / "gone", tmp_path)
