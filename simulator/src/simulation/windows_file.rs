//! Executions between the edges of a pin, written to a file while the simulation serves.

use crate::core::Stop;
use crate::machine::{Limit, Machine};
use crate::observe::windows::Windows;
use crate::observe::Observer;
use std::fs::File;
use std::io::{self, Write};

/// Rows are in the file before anybody outside can know of what happened in their windows: before the bytes and edges of
/// the same slice are handed over.
pub struct WindowsFile {
    observer: Observer,
    file: Option<File>,
}

impl WindowsFile {
    /// Begins the table in `file`; from now on the machine hands control back at the pin's edges.
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

    /// As [`Machine::run_slice`] without a limit.
    pub fn run_slice(&mut self, machine: &mut Machine, slice_cycles: u64) -> Result<(), Stop> {
        let slice = self
            .observer
            .run_slice(machine, Limit::Endless, slice_cycles);
        self.write();
        slice.map(|_| ())
    }

    /// A table that cannot be written ends there, and is said to: the board itself goes on.
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
