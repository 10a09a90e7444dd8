//! The command line (docs/SPEC.md, section 7).

mod counts;
mod gaps;
mod limit;
mod run;
mod serve;

use crate::core::{Stop, Timing};
use crate::memory::elf::Firmware;
use crate::memory::image::ImageArgument;
use crate::memory::Memory;
use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A virtual Nucleo-F401RE: runs the same ELF as the board, cycle by cycle.
#[derive(Parser)]
#[command(name = "virtual-nucleo", version)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run firmware and write what its pins and its UART did to files.
    Run(run::RunArguments),
    /// Be a board with a logic analyzer (BeagleLogic over TCP) and a serial port.
    Serve(serve::ServeArguments),
}

/// What is on the board before reset.
#[derive(Args)]
struct BoardArguments {
    /// The firmware, an ELF executable.
    #[arg(required = true)]
    firmware: Option<PathBuf>,
    /// A file to place in memory, for example operations.bin@0x08040000.
    #[arg(long, value_name = "FILE@0xADDRESS")]
    image: Vec<ImageArgument>,
    /// The core's timing: the manual's table, or the chip's flash and pipeline.
    #[arg(long, value_enum, default_value = "nucleo")]
    timing: TimingArgument,
}

#[derive(Clone, Copy, ValueEnum)]
enum TimingArgument {
    Ideal,
    Nucleo,
}

impl BoardArguments {
    fn timing(&self) -> Timing {
        match self.timing {
            TimingArgument::Ideal => Timing::Ideal,
            TimingArgument::Nucleo => Timing::Nucleo,
        }
    }

    fn has_firmware(&self) -> bool {
        self.firmware.is_some()
    }

    /// Reads firmware and images into memory.
    fn load(&self) -> Result<(Firmware, Memory)> {
        let firmware = self.firmware.as_deref().unwrap_or(Path::new(""));
        let path = firmware.display();
        let file =
            fs::read(firmware).with_context(|| format!("cannot read the firmware {path}"))?;
        let firmware = Firmware::parse(&file).with_context(|| format!("cannot load {path}"))?;
        let mut memory = Memory::default();
        firmware
            .place(&mut memory)
            .with_context(|| format!("cannot load {path}"))?;
        for image in &self.image {
            let path = image.path.display();
            let bytes =
                fs::read(&image.path).with_context(|| format!("cannot read the image {path}"))?;
            memory
                .load(image.address, &bytes)
                .with_context(|| format!("cannot place {path}"))?;
        }
        Ok((firmware, memory))
    }
}

/// Status of a run that the simulation could not continue.
const STOPPED: u8 = 3;

/// Runs a command. Status 0: as asked; 1: bad input or output; 3: the simulation stopped.
pub fn execute(arguments: Arguments) -> ExitCode {
    let outcome = match arguments.command {
        Command::Run(arguments) => run::execute(&arguments),
        Command::Serve(arguments) => serve::execute(&arguments),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("virtual-nucleo: {error:#}");
        ExitCode::FAILURE
    })
}

fn stopped(stop: &Stop) -> ExitCode {
    eprintln!("virtual-nucleo: {stop}");
    ExitCode::from(STOPPED)
}
