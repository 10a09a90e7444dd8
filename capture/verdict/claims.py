"""The rules on what the firmware says of itself and of its plan: it must be what was asked for.

They belong to the rules of capture/verdict/inconclusive.py and are made like them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from base.run_folder.records import INTERNAL_CLOCK, Boot, PlanRecord
from capture.joining.evidence import Evidence
from scenarios.stimulus import MODES


def another_firmware_ran(evidence: Evidence) -> Iterator[str]:
    """BOOT must tell of the firmware that was built: another would have other numbers."""
    boot, firmware = evidence.log.first(Boot), evidence.asked
    if boot is None or firmware is None:
        return
    knobs = None if firmware.knobs is None else {name: str(value) for name, value in firmware.knobs.items()}
    internal_hz = evidence.board.clock.internal_core_hz
    core_hz = internal_hz if boot.clock == INTERNAL_CLOCK and firmware.core_hz else firmware.core_hz
    claims = (
        ("its board", boot.board, Path(firmware.board).name),
        ("its allocator", boot.allocator, firmware.allocator),
        ("its heap in bytes", boot.heap_bytes, firmware.heap_bytes),
        ("its clock in Hz", boot.core_hz, core_hz),
        ("its kernel", boot.kernel, firmware.kernel),
        ("FLASH_ACR", f"{boot.flash_acr:08X}", firmware.flash_acr),
        ("its lock", boot.locking, firmware.locking),
        ("its knobs", _listed(boot.knob_values), None if knobs is None else _listed(knobs)),
    )
    for what, told, due in claims:
        if due is not None and told != due:
            yield f"Of {what} the firmware says {told}, not {due}; build and load it again."


def _listed(knobs: dict[str, str]) -> str:
    return "/".join(f"{name}={knobs[name]}" for name in sorted(knobs)) or "none"


def another_plan_ran(evidence: Evidence) -> Iterator[str]:
    """PLAN must tell of the image that was loaded. The CRC,
    with a rule of its own, leaves out the header.

    What further number a stimulus has (seed, spacing) no record tells: the timers' line does.
    """
    plan_record, plan = evidence.log.first(PlanRecord), evidence.plan
    if plan_record is None:
        return
    claims = (
        ("scenario", plan_record.scenario, plan.name),
        ("number of operations", plan_record.operations, plan.operations.height),
        ("stimulus", MODES[plan_record.stimulus_mode], plan.stimulus.mode),
        ("stimulus period in ticks", plan_record.stimulus_period_ticks, plan.stimulus.period_ticks),
        ("control period in ticks", plan_record.control_period_ticks, plan.stimulus.control_period_ticks),
    )
    for what, value, due in claims:
        if value != due:
            yield f"The firmware found the {what} {value} in its image, not {due}; load the image again."


RULES = (another_firmware_ran, another_plan_ran)
