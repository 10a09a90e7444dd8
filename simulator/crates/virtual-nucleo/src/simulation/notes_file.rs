//! Writes what was odd to a file while the simulation serves.

use machine::observe::notes::as_json;
use machine::Machine;
use std::fs;
use std::path::PathBuf;
use stm32::memory::elf::Firmware;

/// The file is written anew after a slice that brought a note.
pub struct NotesFile {
    path: PathBuf,
    firmware: Option<Firmware>,
    /// How many notes the file has. `None` until it is there.
    written: Option<usize>,
}

impl NotesFile {
    pub fn new(path: PathBuf, firmware: Option<Firmware>) -> NotesFile {
        NotesFile {
            path,
            firmware,
            written: None,
        }
    }

    /// If the file cannot be written, a message says so once. The board runs on.
    pub fn see(&mut self, machine: &Machine) {
        let count = machine.soc().notes().count();
        if self.written == Some(count) {
            return;
        }
        self.written = Some(count);
        let text = format!("{:#}\n", as_json(machine, self.firmware.as_ref()));
        if let Err(error) = fs::write(&self.path, text) {
            let name = self.path.display();
            eprintln!("virtual-nucleo: cannot write the notes to {name}: {error}");
        }
    }
}
