//! The notes of a run as JSON (docs/reference/simulator-files.md).

use crate::Machine;
use serde_json::{json, Value};
use stm32::memory::elf::Firmware;
use stm32::soc::notes::Note;

/// A list of objects, in the order of the first cycles.
pub fn as_json(machine: &Machine, firmware: Option<&Firmware>) -> Value {
    let one = |note: &&Note| {
        let mut told = json!({
            "kind": note.oddity.name(),
            "what": note.what,
            "address": format!("{:#010x}", note.address),
            "differs": note.oddity.differs(),
            "consequence": note.oddity.consequence(),
            "pc": note.pc.map(|pc| format!("{pc:#010x}")),
            "function": function(note, firmware),
            "cycle": note.cycle,
            "reads": note.reads,
            "writes": note.writes,
        });
        if let Some(cycles) = note.lasted_cycles {
            told["lasted_cycles"] = cycles.into();
        }
        told
    };
    machine.notes().iter().map(one).collect()
}

/// The function that made a note first. `None` if nothing tells.
pub fn function(note: &Note, firmware: Option<&Firmware>) -> Option<String> {
    firmware?.function_at(note.pc?)
}
