//! `virtual-nucleo serve`: a board on the desk, with an analyzer and a serial port on the loopback interface.

use super::{stopped, BoardArguments};
use crate::servers::beaglelogic::Analyzer;
use crate::servers::uart::{self, UartArgument};
use crate::servers::Event;
use crate::simulation::{Simulation, Start};
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use serde_json::json;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

#[derive(Args)]
pub struct ServeArguments {
    #[command(flatten)]
    board: BoardArguments,
    /// TCP port of the analyzer; 0 takes any free one.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    analyzer: u16,
    /// The serial port: a pseudo-terminal, or a TCP port (0 takes any free one).
    #[arg(long, value_name = "pty|tcp:PORT", default_value = "pty")]
    uart: UartArgument,
    /// Leave reset when the analyzer's client says get, or at once.
    #[arg(long, value_enum, default_value = "get")]
    start: StartArgument,
}

#[derive(Clone, Copy, ValueEnum)]
enum StartArgument {
    Get,
    Now,
}

/// How long clients have to take what was recorded before a stop.
const FAREWELL: Duration = Duration::from_secs(2);

pub fn execute(arguments: &ServeArguments) -> Result<ExitCode> {
    let (_, machine) = arguments.board.machine()?;
    let machine = match machine {
        Ok(machine) => machine,
        Err(stop) => return Ok(stopped(&stop)),
    };
    let (events, arrivals) = mpsc::channel();
    let (analyzer, captures) = Analyzer::listen(arguments.analyzer)?;
    let serial = uart::open(&arguments.uart, events.clone())?;
    watch_signals(events.clone())?;
    watch_stdin(events.clone());
    announce(&analyzer.address(), serial.name())?;

    let simulation = Simulation::new(machine, captures, serial);
    start(simulation, arguments.start, events.clone());
    analyzer.serve(events);
    Ok(wait(&arrivals))
}

fn announce(analyzer: &str, uart: &str) -> Result<()> {
    let mut stdout = io::stdout();
    writeln!(stdout, "{}", json!({ "analyzer": analyzer, "uart": uart }))
        .and_then(|()| stdout.flush())
        .context("cannot say on standard output where the servers listen")
}

fn start(simulation: Simulation, start: StartArgument, events: Sender<Event>) {
    let start = match start {
        StartArgument::Get => Start::AtCapture,
        StartArgument::Now => Start::AtOnce,
    };
    thread::spawn(move || {
        if let Err(stop) = simulation.run(start) {
            // The receiver lives as long as the process.
            let _ = events.send(Event::Stopped(stop));
        }
    });
}

fn watch_stdin(events: Sender<Event>) {
    thread::spawn(move || {
        let mut stdin = io::stdin().lock();
        while matches!(stdin.read(&mut [0; 256]), Ok(count) if count > 0) {}
        let _ = events.send(Event::StdinClosed);
    });
}

fn watch_signals(events: Sender<Event>) -> Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT]).context("cannot watch for signals")?;
    thread::spawn(move || {
        if signals.forever().next().is_some() {
            let _ = events.send(Event::Terminated);
        }
    });
    Ok(())
}

fn wait(arrivals: &Receiver<Event>) -> ExitCode {
    for event in arrivals {
        match event {
            Event::StdinClosed | Event::Terminated => break,
            Event::Stopped(stop) => {
                let status = stopped(&stop);
                say_farewell(arrivals);
                return status;
            }
            Event::CaptureEnded | Event::UartEnded => {}
        }
    }
    ExitCode::SUCCESS
}

/// Waits until the servers have handed over what was recorded, but not for clients that do not take it.
fn say_farewell(arrivals: &Receiver<Event>) {
    let deadline = Instant::now() + FAREWELL;
    let (mut capture, mut uart) = (false, false);
    while !(capture && uart) {
        match arrivals.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(Event::CaptureEnded) => capture = true,
            Ok(Event::UartEnded) => uart = true,
            _ => break,
        }
    }
}
