//! `--save-state FILE@TIME`: what somebody who explains a moment must see of the machine.

use anyhow::{Context, Result};
use machine::Machine;
use serde_json::{json, Map, Value};
use std::fs;
use std::path::Path;
use stm32::chip::SRAM_BASE;

/// R0–R12, SP, LR and PC by name, then the masks, both stack pointers, and the fault registers.
pub fn all_registers(machine: &Machine) -> Vec<(String, u32)> {
    let faults = machine.core().fault_registers();
    let of_faults = [
        ("cfsr", faults.cfsr),
        ("hfsr", faults.hfsr),
        ("mmfar", faults.mmfar),
        ("bfar", faults.bfar),
    ];
    let mut all = core_registers(machine);
    all.extend(of_faults.map(|(name, value)| (name.into(), value)));
    all
}

fn registers(machine: &Machine) -> Map<String, Value> {
    core_registers(machine)
        .into_iter()
        .map(|(name, value)| (name, value.into()))
        .collect()
}

/// R0–R12, SP, LR and PC by name, then the masks and both stack pointers.
fn core_registers(machine: &Machine) -> Vec<(String, u32)> {
    let core = machine.core();
    let general = (0..13).map(|n| (format!("r{n}"), core.register(n)));
    let named = [
        ("sp", core.register(13)),
        ("lr", core.register(14)),
        ("pc", core.pc()),
        ("xpsr", core.registers().xpsr()),
        ("msp", core.registers().msp()),
        ("psp", core.registers().psp()),
        ("control", core.registers().control()),
        ("primask", core.primask().into()),
        ("basepri", core.basepri().into()),
    ];
    general
        .chain(named.map(|(name, value)| (name.into(), value)))
        .collect()
}

/// A fraction as two numbers. Those of a timebase fit.
pub(super) fn pair((numerator, denominator): (u128, u128)) -> Result<Value> {
    let narrow = |number: u128| u64::try_from(number).context("the time is too fine to be written");
    Ok(json!([narrow(numerator)?, narrow(denominator)?]))
}

fn sram(machine: &Machine) -> String {
    let bytes = machine.soc().memory().sram();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes the current state (docs/reference/simulator-files.md).
pub fn write(path: &Path, machine: &Machine) -> Result<()> {
    let timebase = machine.timebase();
    let cycle = machine.cycles();
    let state = json!({
        "cycle": cycle,
        "seconds": pair(timebase.seconds(cycle).fraction())?,
        "core_hz": pair(timebase.clock(cycle))?,
        "channels": machine.channels(),
        "registers": registers(machine),
        "sram_address": SRAM_BASE,
        "sram": sram(machine),
    });
    fs::write(path, format!("{state}\n"))
        .with_context(|| format!("cannot write {}", path.display()))
}
