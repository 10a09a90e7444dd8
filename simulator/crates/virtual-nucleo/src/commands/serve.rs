//! `virtual-nucleo serve`: a board on the desk, with an analyzer and a serial port on the loopback
//! interface.

use super::board::BoardArguments;
use super::counts::WindowsArguments;
use super::notes::NotesArgument;
use super::semihosting::answer_in_silence;
use super::stopped;
use crate::analyzer::clips::Clips;
use crate::servers::beaglelogic::Analyzer;
use crate::servers::probe::Probe;
use crate::servers::uart::{self, UartArgument};
use crate::servers::Event;
use crate::simulation::{Board, Debugger, Nothing};
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use machine::debug_port::Wire;
use serde_json::{json, Value};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};
use stm32::chip::Chip;

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
    /// TCP port of a debug probe for pyOCD; 0 takes any free one.
    #[arg(long, value_name = "PORT")]
    probe: Option<u16>,
    /// What the analyzer's inputs are clipped to, for example D0=PA9,D1=PB3,D2=open.
    #[arg(long, value_name = "INPUT=PIN,...", default_value = "D0=CRIT")]
    clips: Clips,
    /// Leave reset when the analyzer's client says get, or at once.
    #[arg(long, value_enum, default_value = "get")]
    start: StartArgument,
    #[command(flatten)]
    windows: WindowsArguments,
    #[command(flatten)]
    notes: NotesArgument,
    /// Answer the program's semihosting calls (BKPT 0xAB); what it prints is not shown.
    #[arg(long)]
    semihosting: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StartArgument {
    Get,
    Now,
}

/// After a stop, how long clients have to take what was recorded.
const FAREWELL: Duration = Duration::from_secs(2);

pub fn execute(arguments: &ServeArguments) -> Result<ExitCode> {
    let (firmware, mut machine) = arguments.board.machine()?;
    if arguments.semihosting {
        machine.answer_calls_by(answer_in_silence);
    }
    let chip = machine.chip();
    let windows_file = arguments.windows.begin(firmware.as_ref(), &mut machine)?;
    let (events, arrivals) = mpsc::channel();
    let (analyzer, captures) = Analyzer::listen(arguments.analyzer)?;
    let (serial, uart) = uart::open(&arguments.uart, events.clone())?;
    watch_signals(events.clone())?;
    watch_stdin(events.clone());
    let (wire, requests) = Wire::new();
    let probe = arguments
        .probe
        .map(|port| Probe::listen(port, wire))
        .transpose()?;
    let mut addresses = json!({ "analyzer": analyzer.address(), "uart": uart });
    if let Some(probe) = &probe {
        addresses["probe"] = probe.address().into();
    }
    announce(&addresses)?;

    let board = Board {
        machine,
        clips: arguments.clips.clone(),
        captures,
        serial,
        debugger: probe.is_some().then(|| Debugger::new(requests)),
        windows_file,
        notes_file: arguments.notes.begin(firmware),
        powered: arguments.start == StartArgument::Now,
        capture: None,
    };
    let stopped = events.clone();
    thread::spawn(move || {
        if let Err(stop) = board.run(Nothing) {
            // The receiver lives as long as the process.
            let _ = stopped.send(Event::Stopped(stop));
        }
    });
    analyzer.serve(events);
    if let Some(probe) = probe {
        probe.serve();
    }
    Ok(wait(&arrivals, chip))
}

/// Says on standard output that everything is there, and where.
pub fn announce(places: &Value) -> Result<()> {
    let mut stdout = io::stdout();
    writeln!(stdout, "{places}")
        .and_then(|()| stdout.flush())
        .context("cannot say on standard output where the servers listen")
}

pub fn watch_stdin(events: Sender<Event>) {
    thread::spawn(move || {
        let mut stdin = io::stdin().lock();
        while matches!(stdin.read(&mut [0; 256]), Ok(count) if count > 0) {}
        let _ = events.send(Event::StdinClosed);
    });
}

pub fn watch_signals(events: Sender<Event>) -> Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT]).context("cannot watch for signals")?;
    thread::spawn(move || {
        if signals.forever().next().is_some() {
            let _ = events.send(Event::Terminated);
        }
    });
    Ok(())
}

fn wait(arrivals: &Receiver<Event>, chip: &Chip) -> ExitCode {
    for event in arrivals {
        match event {
            Event::StdinClosed | Event::Terminated => break,
            Event::Stopped(stop) => {
                let status = stopped(&stop, chip);
                say_farewell(arrivals);
                return status;
            }
            Event::CaptureEnded | Event::UartEnded => {}
        }
    }
    ExitCode::SUCCESS
}

/// Waits until the servers have sent what was recorded, but not for clients that do not read.
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
