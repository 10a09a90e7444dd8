//! `virtual-desk`: a board on a desk. An FX2 analyzer is clipped to its pins, and an ST-Link is wired
//! to its core and serial port, as USB devices in a folder.

mod board;
mod faults;
mod fx2;
mod lead_in;
mod line;
mod serial_port;
mod stlink;
mod table;
mod usb;

use anyhow::Result;
use board::Desk;
use clap::{Parser, ValueEnum};
use faults::Faults;
use fx2::{Bare, Fx2, Wires};
use machine::debug_port::Wire;
use serde_json::json;
use serial_port::Socket;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use stlink::StLink;
use stm32::peripherals::rcc::NUCLEO_HSE;
use table::{Table, CONTROL};
use usb::{Bus, Device, Plug, Waker};
use virtual_nucleo::analyzer::clips::Clips;
use virtual_nucleo::commands::board::BoardArguments;
use virtual_nucleo::commands::exit_code;
use virtual_nucleo::commands::notes::NotesArgument;
use virtual_nucleo::commands::semihosting::answer_in_silence;
use virtual_nucleo::commands::serve::{announce, watch_signals, watch_stdin};
use virtual_nucleo::servers::uart::Serial;
use virtual_nucleo::servers::Event;
use virtual_nucleo::simulation::{Board, Debugger};

const TTY: &str = "ttyACM0";

/// A board on a desk: USB devices in a folder, an analyzer and an ST-Link, for stock drivers. Without
/// firmware its flash is erased.
#[derive(Parser)]
#[command(name = "virtual-desk", version, after_help = faults::help())]
#[command(mut_arg("firmware", |firmware| firmware.required_unless_present("folder")))]
struct Arguments {
    #[command(flatten)]
    board: BoardArguments,
    /// An empty folder for the devices. Programs see them with UMOCKDEV_DIR set to it and
    /// libumockdev-preload.so.0 in LD_PRELOAD.
    #[arg(long, value_name = "DIR")]
    folder: PathBuf,
    /// Inputs of the analyzer.
    #[arg(long, value_name = "8|16", default_value = "8", value_parser = ["8", "16"])]
    channels: String,
    /// The analyzer has no firmware yet. The host uploads it.
    #[arg(long)]
    bare: bool,
    /// What the analyzer's inputs are clipped to, for example D0=PA9,D1=PA8,D2=open,D3=PA10+PB10.
    #[arg(long, value_name = "INPUT=PIN,...", default_value = "D0=CRIT")]
    clips: Clips,
    /// How much too fast the analyzer's clock is, in millionths.
    #[arg(long, value_name = "PPM", default_value = "0", allow_negative_numbers = true,
          value_parser = clap::value_parser!(i64).range(-10_000..=10_000))]
    clock_error_ppm: i64,
    #[command(flatten)]
    notes: NotesArgument,
    /// Answer the program's semihosting calls (BKPT 0xAB); what it prints is not shown.
    #[arg(long)]
    semihosting: bool,
    /// Each name gives the ST-Link another serial number.
    #[arg(long, value_name = "NAME", default_value = "desk")]
    name: String,
    /// Let the board run at once, or from the first capture on.
    #[arg(long, value_enum, default_value = "now")]
    start: StartArgument,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StartArgument {
    Now,
    Capture,
}

fn main() -> ExitCode {
    exit_code(execute(&Arguments::parse()))
}

fn execute(arguments: &Arguments) -> Result<ExitCode> {
    let (firmware, mut machine) = arguments.board.machine()?;
    if arguments.semihosting {
        machine.answer_calls_by(answer_in_silence);
    }
    let (events, arrivals) = mpsc::channel();
    watch_signals(events.clone())?;
    watch_stdin(events.clone());
    let (serial, host) = Serial::new(events);
    let mut socket = Socket::new(host);
    let (terminal, path) = (socket.terminal.clone(), socket.replug()?);
    let (wire, requests) = Wire::new();
    let (captures, capture_requests) = mpsc::channel();
    let (hand, unplugged) = mpsc::channel();
    let faults = Faults::new(hand);
    let wires = Wires {
        captures,
        waker: Waker::default(),
        faults: faults.clone(),
        clock_error_ppm: arguments.clock_error_ppm,
    };
    let waker = wires.waker.clone();
    let sixteen = arguments.channels == "16";
    let analyzer: Box<dyn Device> = match arguments.bare {
        true => Box::new(Bare::new(sixteen, wires)),
        false => Box::new(Fx2::new(sixteen, wires)),
    };
    let number = stlink::Serial::of_desk(&arguments.name);
    let digits = number.digits().to_string();
    let plug = |device, waker, tty| Plug { device, waker, tty };
    let devices = [
        plug(analyzer, waker, None),
        plug(
            Box::new(StLink::new(wire, number)),
            Waker::default(),
            Some((TTY.into(), path.clone())),
        ),
    ];
    let bus = Bus::create(&arguments.folder)?;
    let ready = json!({
        "desk": bus.folder(),
        "control": bus.folder().join(CONTROL),
        "uart": format!("/dev/{TTY}"),
        "terminal": path,
        "probe": digits,
    });
    let table = Table::lay(bus, devices, faults.clone(), socket)?;
    let control = table.listen()?;
    announce(&ready)?;

    let board = Board {
        machine,
        clips: arguments.clips.clone(),
        captures: capture_requests,
        serial,
        debugger: Some(Debugger::new(requests)),
        windows_file: None,
        notes_file: arguments.notes.begin(firmware),
        powered: arguments.start == StartArgument::Now,
        capture: None,
    };
    let desk = Desk::new(faults, terminal, arguments.board.hse.unwrap_or(NUCLEO_HSE));
    thread::spawn(move || board.run(desk));
    table.carry_out(unplugged);
    table.serve(control);
    let over = |event: &Event| matches!(event, Event::StdinClosed | Event::Terminated);
    arrivals.iter().find(over);
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
#[path = "../../../tests/support/random.rs"]
mod random;
