//! The command line (docs/reference/virtual-nucleo.md).

pub mod board;
mod capture;
mod counts;
mod edge_stream;
mod faults;
mod latency;
mod limit;
mod marks;
mod masks;
pub mod notes;
mod outputs;
mod places;
mod run;
mod saving;
pub mod semihosting;
pub mod serve;
mod stop_on;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use cortex_m::Stop;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::Arc;
use stm32::chip::Chip;

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
    Run(Box<run::RunArguments>),
    /// Pend an interrupt at many cycles of a run, and write how long it waited at each.
    Latency(Box<latency::LatencyArguments>),
    /// Run firmware and write what an analyzer, the serial port and counts would show to files.
    Capture(Box<capture::CaptureArguments>),
    /// Be a board with a logic analyzer (BeagleLogic over TCP) and a serial port.
    Serve(Box<serve::ServeArguments>),
}

/// Exit status of a run that the simulation could not continue.
const STOPPED: u8 = 3;

/// Exit status of a run that a condition of `--stop-on` ended.
const MET: u8 = 4;

/// Exit status of a run that ended in the handler of a fault.
const FAULTED: u8 = 5;

/// Exit status of a run that no condition of `--stop-on` ended.
const UNMET: u8 = 6;

/// 128 + SIGINT, as a shell reports it.
const INTERRUPTED: u8 = 130;

/// What becomes true at Ctrl-C.
fn on_interrupt() -> Result<Arc<AtomicBool>> {
    let interrupted = Arc::default();
    signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&interrupted))
        .context("cannot watch for Ctrl-C")?;
    Ok(interrupted)
}

/// Runs a command. Exit status 0: done. 1: bad input or output. 3: the simulation stopped. 4: a
/// condition was met. 5: the program ended in the handler of a fault. 6: no condition was met. With
/// semihosting, the program's own.
pub fn execute(arguments: Arguments) -> ExitCode {
    exit_code(match arguments.command {
        Command::Run(arguments) => run::execute(&arguments),
        Command::Latency(arguments) => latency::execute(&arguments),
        Command::Capture(arguments) => capture::execute(&arguments),
        Command::Serve(arguments) => serve::execute(&arguments),
    })
}

/// The exit status of a command, whose error is said.
pub fn exit_code(outcome: Result<ExitCode>) -> ExitCode {
    outcome.unwrap_or_else(|error| {
        eprintln!("virtual-nucleo: {error:#}");
        match error.is::<Stop>() {
            true => ExitCode::from(STOPPED),
            false => ExitCode::FAILURE,
        }
    })
}

/// Says why the simulation cannot go on, on which chip, and what to try first.
fn stopped(stop: &Stop, chip: &Chip) -> ExitCode {
    match stop {
        Stop::Unmodelled { .. } => {
            let name = &chip.name;
            eprintln!("virtual-nucleo: {stop}; this is the {name}: first try --gaps, which goes past what is not modelled");
        }
        _ => eprintln!("virtual-nucleo: {stop}"),
    }
    ExitCode::from(STOPPED)
}
