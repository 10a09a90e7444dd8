//! `--strict`, `--gaps`, and what is said of what a run noted between them.

use crate::simulation::NotesFile;
use clap::Args;
use machine::observe::notes::function;
use machine::Machine;
use std::path::PathBuf;
use stm32::manners::{Manners, Oddity};
use stm32::memory::elf::Firmware;
use stm32::soc::notes::Note;

#[derive(Args, Clone, Copy)]
pub struct MannersArguments {
    /// Stop at the first write or read that the manual does not allow, or that is not modelled.
    /// Without it, what the chip takes without a word is noted and the run goes on.
    #[arg(long, conflicts_with = "gaps")]
    strict: bool,
    /// Go on past what is not modelled, too.
    #[arg(long)]
    pub gaps: bool,
}

impl MannersArguments {
    pub fn manners(&self) -> Manners {
        match (self.strict, self.gaps) {
            (true, _) => Manners::Strict,
            (_, true) => Manners::PastGaps,
            _ => Manners::Polite,
        }
    }
}

/// Where a board that is watched from outside writes its notes.
#[derive(Args)]
pub struct NotesArgument {
    /// Write what was odd and did not stop the run here, as it comes
    /// (docs/reference/simulator-files.md).
    #[arg(long, value_name = "JSON")]
    notes: Option<PathBuf>,
}

impl NotesArgument {
    /// The file of the notes, which is written anew whenever there are more.
    pub fn begin(&self, firmware: Option<Firmware>) -> Option<NotesFile> {
        let path = self.notes.clone()?;
        Some(NotesFile::new(path, firmware))
    }
}

/// Says on standard error what a run noted, a line each, so that nobody who judges the run
/// overlooks it.
pub fn tell(machine: &Machine, firmware: Option<&Firmware>) {
    let notes = machine.notes();
    if notes.iter().any(|note| note.oddity.differs()) {
        let chip = &machine.chip().name;
        let past = match machine.manners() {
            Manners::PastGaps => "gaps",
            _ => "notes",
        };
        eprintln!("virtual-nucleo: {past}: some of what follows is not modelled; there, this run is not the {chip}'s");
    }
    for note in notes {
        eprintln!("virtual-nucleo: note: {}", sentence(note, firmware));
    }
}

fn sentence(note: &Note, firmware: Option<&Firmware>) -> String {
    let place = match (note.pc, function(note, firmware)) {
        (Some(pc), Some(function)) => format!(" at pc {pc:#010x} in {function}"),
        (Some(pc), None) => format!(" at pc {pc:#010x}"),
        (None, _) => String::new(),
    };
    let times = match (note.reads, note.writes, note.oddity) {
        (reads, _, Oddity::Instruction) => format!("{reads} executed"),
        (reads, writes, _) => format!("{reads} read, {writes} written"),
    };
    let lasted = match note.lasted_cycles {
        Some(cycles) => format!(", for {cycles} cycles"),
        None => String::new(),
    };
    format!(
        "{} at {:#010x}: {times}, first{place} in cycle {}{lasted}; {}",
        note.what,
        note.address,
        note.cycle,
        note.oddity.consequence()
    )
}
