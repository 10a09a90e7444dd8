//! Writes executions between the edges of a pin to a file while the simulation serves.

use cortex_m::Stop;
use machine::observe::windows::Windows;
use machine::observe::Observer;
use machine::{Limit, Machine};
use std::fs::File;
use std::io::{self, Write};

/// The rows of a slice are written before its bytes and edges are sent. So nobody learns of a
/// window before its row is in the file.
pub struct WindowsFile {
    observer: Observer,
    file: Option<File>,
}

impl WindowsFile {
    /// Begins the table in `file`. From now on the machine returns at the pin's edges.
    pub fn begin(
        windows: Windows,
        mut file: File,
        machine: &mut Machine,
    ) -> io::Result<WindowsFile> {
        file.write_all(windows.header().as_bytes())?;
        let observer = Observer {
            windows: Some(windows),
            ..Observer::default()
        };
        observer.attach(machine);
        Ok(WindowsFile {
            observer,
            file: Some(file),
        })
    }

    /// As [`Machine::run_slice`].
    pub fn run_slice(
        &mut self,
        machine: &mut Machine,
        limit: Limit,
        cycles: u64,
    ) -> Result<(), Stop> {
        let slice = self.observer.run_slice(machine, limit, cycles);
        self.write();
        slice.map(|_| ())
    }

    /// If the table cannot be written, it ends there with a message. The board runs on.
    fn write(&mut self) {
        let Some(windows) = &mut self.observer.windows else {
            return;
        };
        let rows = windows.take_rows();
        let Some(file) = &mut self.file else {
            return;
        };
        if let Err(error) = file.write_all(rows.as_bytes()) {
            eprintln!("virtual-nucleo: cannot write the counts of --windows: {error}");
            self.file = None;
        }
    }
}
