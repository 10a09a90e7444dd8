//! `--save-snapshot FILE@TIME` and `--save-state FILE@TIME`, which has what somebody who explains a
//! moment must see of the machine.

use super::limit;
use anyhow::{Context, Result};
use machine::observe::stacks::{unwind, Code};
use machine::snapshot::Snapshot;
use machine::{Limit, Machine};
use serde_json::{json, Map, Value};
use std::fs;
use std::path::{Path, PathBuf};
use stm32::chip::SRAM_BASE;

/// Where and when to save a snapshot or a state.
#[derive(Clone)]
pub struct SavePoint {
    pub path: PathBuf,
    pub at: Limit,
}

/// Writes a machine to a file. The code is that of its firmware, if it is known.
pub type Save = fn(&Path, &Machine, Option<&Code>) -> Result<()>;

pub fn parse(text: &str) -> Result<SavePoint> {
    let point = text.rsplit_once('@').filter(|(path, _)| !path.is_empty());
    let (path, time) =
        point.context("no file or no time: write FILE@TIME, for example half.snapshot@50ms")?;
    Ok(SavePoint {
        path: path.into(),
        at: limit::parse(time)?,
    })
}

/// Writes the machine as a snapshot.
pub fn snapshot(path: &Path, machine: &Machine, _: Option<&Code>) -> Result<()> {
    let unfinished = path.with_extension("unfinished");
    fs::write(&unfinished, Snapshot::of(machine).to_bytes())
        .and_then(|()| fs::rename(&unfinished, path))
        .with_context(|| format!("cannot write the snapshot {}", path.display()))
}

/// Writes the current state (docs/reference/simulator-files.md).
pub fn state(path: &Path, machine: &Machine, code: Option<&Code>) -> Result<()> {
    let timebase = machine.timebase();
    let cycle = machine.cycles();
    let registers = core_registers(machine).map(|(name, value)| (name, value.into()));
    let (core, memory) = (machine.core(), machine.soc().memory());
    let context = cortex_m::Context {
        registers: std::array::from_fn(|n| core.register(n)),
        psp: core.registers().psp(),
        frame: None,
    };
    let mut stack = Vec::new();
    if let Some(code) = code {
        let see = |address, is_next| stack.push((address, is_next));
        unwind(code, memory, core.pc(), &context, see);
    }
    let sram = memory.sram().iter();
    let state = json!({
        "cycle": cycle,
        "seconds": pair(timebase.seconds(cycle).fraction())?,
        "core_hz": pair(timebase.clock(cycle))?,
        "channels": machine.channels(),
        "registers": registers.collect::<Map<_, _>>(),
        "stack": stack,
        "sram_address": SRAM_BASE,
        "sram": sram.map(|byte| format!("{byte:02x}")).collect::<String>(),
    });
    write(path, format!("{state}\n"))
}

/// Writes a whole file.
pub fn write(path: &Path, text: String) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// R0–R12, SP, LR and PC by name, then the masks, both stack pointers, and the fault registers.
pub fn all_registers(machine: &Machine) -> impl Iterator<Item = (String, u32)> {
    let faults = machine.core().scb().fault_status();
    let of_faults = [
        ("cfsr", faults.cfsr),
        ("hfsr", faults.hfsr),
        ("mmfar", faults.mmfar),
        ("bfar", faults.bfar),
    ];
    core_registers(machine).chain(of_faults.map(|(name, value)| (name.into(), value)))
}

/// R0–R12, SP, LR and PC by name, then the masks and both stack pointers.
fn core_registers(machine: &Machine) -> impl Iterator<Item = (String, u32)> {
    let core = machine.core();
    let general: [_; 13] = std::array::from_fn(|n| (format!("r{n}"), core.register(n)));
    let named = [
        ("sp", core.register(13)),
        ("lr", core.register(14)),
        ("pc", core.pc()),
        ("xpsr", core.registers().xpsr()),
        ("msp", core.registers().msp()),
        ("psp", core.registers().psp()),
        ("control", core.registers().control.into()),
        ("primask", core.nvic().primask().into()),
        ("basepri", core.nvic().basepri().into()),
    ];
    general
        .into_iter()
        .chain(named.map(|(name, value)| (name.into(), value)))
}

/// A fraction as two numbers. Those of a timebase fit.
pub fn pair((numerator, denominator): (u128, u128)) -> Result<Value> {
    let narrow = |number: u128| u64::try_from(number).context("the time is too fine to be written");
    Ok(json!([narrow(numerator)?, narrow(denominator)?]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_at_sign_separates() {
        let saving = parse("a@b/half.snapshot@cycles:7").unwrap();
        assert_eq!(saving.path, PathBuf::from("a@b/half.snapshot"));
        assert_eq!(saving.at, Limit::Cycle(7));
        for text in [
            "half.snapshot",
            "@1s",
            "half.snapshot@",
            "half.snapshot@soon",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
