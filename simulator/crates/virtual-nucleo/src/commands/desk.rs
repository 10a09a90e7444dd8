//! `virtual-nucleo desk`: a board on a desk. An FX2 analyzer is clipped to its pins, and an ST-Link
//! is wired to its core and serial port, as USB devices in a folder.

use super::notes::{MannersArguments, NotesArgument};
use super::semihosting::answer_in_silence;
use super::serve::{watch_signals, watch_stdin};
use super::{
    clocked, flash_acr, forced, hse, stopped, BoardArguments, PartnerArguments, TimingArgument,
};
use crate::simulation::mishaps::Mishap;
use crate::simulation::{BoardFaults, Debugger, Desk, Power, ProbeGone};
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use cortex_m::Stop;
use desk::capture_request::CaptureRequest;
use desk::clips::Clips;
use desk::fx2::faults::Faults;
use desk::fx2::{Bare, Fx2, Wires};
use desk::stlink::{self, StLink};
use desk::uart::{self, Socket};
use desk::usb::{Bus, Device, Plug, Waker};
use desk::Event;
use machine::debug_port::Wire;
use machine::Machine;
use serde_json::json;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use stm32::chip_file::ChipArgument;
use stm32::memory::elf::Firmware;
use stm32::memory::image::ImageArgument;
use stm32::memory::Memory;
use stm32::peripherals::rcc::Hse;

const ANALYZER_PORT: u8 = 1;
const PROBE_PORT: u8 = 2;
/// By how many millionths the board's clock may be off.
const MOST_PPM: i64 = 10_000;
const TTY: &str = "ttyACM0";
/// The control socket's name in the folder.
const CONTROL: &str = "control";

#[derive(Args)]
pub struct DeskArguments {
    /// The firmware in the flash, an ELF executable. Without one the flash is erased.
    firmware: Option<PathBuf>,
    /// A file to place in memory, for example operations.bin@0x08040000.
    #[arg(long, value_name = "FILE@0xADDRESS", requires = "firmware")]
    image: Vec<ImageArgument>,
    /// The chip: stm32f401re, stm32f411re, stm32f446re or another, with or without stm32; or the
    /// path of a table of your own that ends in .toml.
    #[arg(long, value_name = "CHIP", default_value = "stm32f401re")]
    chip: ChipArgument,
    /// A crystal at OSC_IN, for example 8MHz or 8000000; none: nothing is there. Without it: the
    /// Nucleo's clock of 8 MHz.
    #[arg(long, value_name = "HZ|none", value_parser = hse::parse)]
    hse: Option<Hse>,
    /// The core's timing: the manual's table, or the chip's flash and pipeline.
    #[arg(long, value_enum, default_value = "nucleo")]
    timing: TimingArgument,
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
    /// Let the flash do what this value of FLASH_ACR says, whatever the firmware sets.
    #[arg(long, value_name = "0xVALUE", value_parser = flash_acr)]
    flash_acr: Option<u32>,
    /// Run a program that was made for another core, such as a Cortex-M0, all the same.
    #[arg(long)]
    any_core: bool,
    #[command(flatten)]
    partners: PartnerArguments,
    #[command(flatten)]
    manners: MannersArguments,
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

#[derive(Clone, Copy, ValueEnum)]
enum StartArgument {
    Now,
    Capture,
}

pub fn execute(arguments: &DeskArguments) -> Result<ExitCode> {
    let (firmware, machine) = machine(arguments)?;
    let mut machine = match machine {
        Ok(machine) => machine,
        Err(stop) => return Ok(stopped(&stop, None)),
    };
    if arguments.semihosting {
        machine.answer_calls_by(answer_in_silence);
    }
    let (events, arrivals) = mpsc::channel();
    watch_signals(events.clone())?;
    watch_stdin(events.clone());
    let (serial, socket) = uart::open_while_read(events.clone())?;
    let (wire, requests) = Wire::new();
    let (captures, capture_requests) = mpsc::channel();
    let (unplugged, analyzer_gone) = mpsc::channel();
    let (probe_unplugged, probe_gone) = mpsc::channel();
    let faults = Injected {
        analyzer: Faults::new(unplugged),
        board: BoardFaults::new(probe_unplugged),
    };
    let devices = devices(arguments, serial.name(), wire, captures, &faults.analyzer);
    let bus = Bus::create(&arguments.folder)?;
    let table = Table::lay(bus, devices, faults.clone(), socket)?;
    let control = table.listen()?;
    announce(&table, arguments, serial.name())?;

    let power = match arguments.start {
        StartArgument::Now => Power::On,
        StartArgument::Capture => Power::AtCapture,
    };
    let clips = arguments.clips.clone();
    let debugger = Debugger::new(requests);
    let desk = Desk::new(
        machine,
        clips,
        capture_requests,
        serial,
        debugger,
        power,
        faults.board,
    )
    .noting(arguments.notes.begin(firmware))
    .clocked_by(arguments.hse);
    thread::spawn(move || desk.run());
    table.carry_out(analyzer_gone, probe_gone);
    table.serve(control);
    Ok(wait(&arrivals))
}

fn machine(arguments: &DeskArguments) -> Result<(Option<Firmware>, Result<Machine, Stop>)> {
    if arguments.firmware.is_none() {
        let board = BoardArguments::empty(arguments.timing);
        let machine = Machine::new(Memory::of(arguments.chip.0), board.timing());
        let machine = machine.map(|machine| forced(machine, arguments.flash_acr));
        let machine = machine.map(|machine| clocked(machine, arguments.hse));
        let mut machine = machine.map(|mut machine| {
            machine.set_manners(arguments.manners.manners());
            machine
        });
        arguments.partners.hang_on(&mut machine)?;
        return Ok((None, machine));
    }
    let board = BoardArguments {
        firmware: arguments.firmware.clone(),
        image: arguments.image.clone(),
        flash_acr: arguments.flash_acr,
        chip: arguments.chip,
        hse: arguments.hse,
        manners: arguments.manners,
        any_core: arguments.any_core,
        partners: arguments.partners.clone(),
        ..BoardArguments::empty(arguments.timing)
    };
    board.machine()
}

type Devices = Vec<(&'static str, u8, Plug)>;

/// What stands on the desk beside the board: names, ports of the bus, devices.
fn devices(
    arguments: &DeskArguments,
    terminal: &str,
    wire: Wire,
    captures: Sender<CaptureRequest>,
    faults: &Faults,
) -> Devices {
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
    let probe = StLink::new(wire, stlink::Serial::of_desk(&arguments.name));
    vec![
        (
            "analyzer",
            ANALYZER_PORT,
            Plug {
                device: analyzer,
                waker,
                tty: None,
            },
        ),
        (
            "probe",
            PROBE_PORT,
            Plug {
                device: Box::new(probe),
                waker: Waker::default(),
                tty: Some((TTY.into(), terminal.into())),
            },
        ),
    ]
}

fn announce(table: &Table, arguments: &DeskArguments, terminal: &str) -> Result<()> {
    let ready = json!({
        "desk": table.bus.folder(),
        "control": table.bus.folder().join(CONTROL),
        "uart": format!("/dev/{TTY}"),
        "terminal": terminal,
        "probe": stlink::Serial::of_desk(&arguments.name).digits(),
    });
    let mut stdout = io::stdout();
    writeln!(stdout, "{ready}")
        .and_then(|()| stdout.flush())
        .context("cannot say on standard output that the desk is ready")
}

fn wait(arrivals: &Receiver<Event>) -> ExitCode {
    for event in arrivals {
        if matches!(event, Event::StdinClosed | Event::Terminated) {
            break;
        }
    }
    ExitCode::SUCCESS
}

/// The devices by name, plugged in or not, and their faults.
#[derive(Clone)]
struct Table {
    bus: Bus,
    ports: Vec<(&'static str, u8)>,
    unplugged: Arc<Mutex<Vec<(u8, Plug)>>>,
    faults: Injected,
    socket: Arc<Mutex<Socket>>,
}

/// The faults that are planned. Clones share them.
#[derive(Clone)]
struct Injected {
    analyzer: Faults,
    board: BoardFaults,
}

impl Table {
    /// Plugs everything in.
    fn lay(bus: Bus, devices: Devices, faults: Injected, socket: Socket) -> Result<Table> {
        let ports = devices
            .iter()
            .map(|&(name, port, _)| (name, port))
            .collect();
        for (_, port, plug) in devices {
            bus.plug(port, plug)?;
        }
        Ok(Table {
            bus,
            ports,
            unplugged: Arc::default(),
            faults,
            socket: Arc::new(Mutex::new(socket)),
        })
    }

    /// Unplugs and plugs in what a fault tells to, when its moment comes.
    fn carry_out(&self, analyzer_gone: Receiver<()>, probe_gone: Receiver<ProbeGone>) {
        let table = self.clone();
        thread::spawn(move || {
            for () in analyzer_gone {
                let _ = table.unplug(ANALYZER_PORT); // or it is unplugged already
            }
        });
        let table = self.clone();
        thread::spawn(move || {
            for ProbeGone(back_as) in probe_gone {
                let gone = table.unplug(PROBE_PORT);
                if let (Ok(()), Some(name)) = (gone, back_as) {
                    table.probe_is_now(&name);
                    if let Err(why) = table.plug(PROBE_PORT) {
                        eprintln!("virtual-nucleo: {why}");
                    }
                }
            }
        });
    }

    /// The probe that is unplugged comes back under another USB id, or its serial port under another
    /// name.
    fn probe_is_now(&self, name: &str) {
        for (port, plug) in self.unplugged().iter_mut() {
            if let Some(product) = product_of(name).filter(|_| *port == PROBE_PORT) {
                plug.device.set_product(product);
            } else if let Some((known, _)) = &mut plug.tty {
                *known = name.into();
            }
        }
    }

    fn listen(&self) -> Result<UnixListener> {
        UnixListener::bind(self.bus.folder().join(CONTROL))
            .context("cannot make the control socket in the folder")
    }

    /// Answers each line of each client by one line.
    fn serve(&self, listener: UnixListener) {
        let table = self.clone();
        thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let table = table.clone();
                thread::spawn(move || table.converse(&socket));
            }
        });
    }

    fn converse(&self, mut socket: &UnixStream) -> Option<()> {
        for line in BufReader::new(socket).lines() {
            let answer = match self.obey(line.ok()?.trim()) {
                Ok(()) => json!({ "done": true }),
                Err(why) => json!({ "error": why }),
            };
            writeln!(socket, "{answer}").ok()?;
        }
        None
    }

    fn obey(&self, line: &str) -> Result<(), String> {
        match line.split_once(' ') {
            Some(("fault", fault)) => self.faults.analyzer.plan(fault),
            Some(("board", mishap)) => self.plan_board(mishap),
            Some(("serial", fault)) => self.faults.board.line.plan(fault),
            Some(("loader", word @ ("idle" | "works"))) => {
                let idles = &self.faults.board.loader_idles;
                idles.store(word == "idle", Ordering::Relaxed);
                Ok(())
            }
            Some(("loader", word @ ("protected" | "open"))) => {
                let protected = &self.faults.board.flash_protected;
                protected.store(word == "protected", Ordering::Relaxed);
                Ok(())
            }
            Some(("probe", fault)) => self.plan_probe(fault),
            Some(("unplug", name)) => self.unplug(self.port(name)?),
            Some(("plug", name)) => self.plug_in(name),
            _ => Err(format!(
                "{line:?} is no request: write fault FAULT, board MISHAP, serial FAULT, probe FAULT, \
                 loader idle, works, protected or open, unplug NAME, plug NAME, plug probe as ttyACM1 or as 0483:3752"
            )),
        }
    }

    /// `crystal PPM`, which holds from the next capture on; `power cycle`, which happens at once; or a
    /// mishap.
    fn plan_board(&self, line: &str) -> Result<(), String> {
        let board = &self.faults.board;
        if line == "power cycle" {
            board.power_gone.store(true, Ordering::Relaxed);
            return Ok(());
        }
        match line.strip_prefix("crystal ").map(str::parse::<i64>) {
            Some(Ok(ppm)) if (-MOST_PPM..=MOST_PPM).contains(&ppm) => {
                board.clock_ppm.store(ppm, Ordering::Relaxed);
                Ok(())
            }
            _ => {
                board.mishaps.plan(line)?;
                if line == "none" {
                    board.clock_ppm.store(0, Ordering::Relaxed);
                }
                Ok(())
            }
        }
    }

    /// `NAME`, or `probe as PORT` or `as VID:PID`.
    fn plug_in(&self, line: &str) -> Result<(), String> {
        match line.split_once(" as ") {
            Some(("probe", name)) if may_be_probe(name) => {
                self.probe_is_now(name);
                self.plug(PROBE_PORT)
            }
            _ => self.plug(self.port(line)?),
        }
    }

    /// `unplug at N`, or `back as NAME at N`.
    fn plan_probe(&self, line: &str) -> Result<(), String> {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let (back_as, at) = match words[..] {
            ["unplug", "at", at] => (None, at.parse()),
            ["back", "as", name, "at", at] if may_be_probe(name) => (Some(name.into()), at.parse()),
            _ => (None, "".parse::<u64>()),
        };
        let at = at.map_err(|_| {
            format!(
                "{line:?} is no fault of the probe: write unplug at SAMPLE, or back as ttyACM1 or \
                 0483:3752 at SAMPLE"
            )
        })?;
        self.faults
            .board
            .mishaps
            .add(Mishap::ProbeGone(back_as), at);
        Ok(())
    }

    fn port(&self, name: &str) -> Result<u8, String> {
        let found = self.ports.iter().find(|(known, _)| *known == name);
        found
            .map(|(_, port)| *port)
            .ok_or_else(|| format!("there is no {name:?}: write analyzer or probe"))
    }

    fn unplug(&self, port: u8) -> Result<(), String> {
        let mut plug = self.bus.unplug(port).ok_or("it is not plugged in")?;
        if let Some((_, terminal)) = &mut plug.tty {
            let mut socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
            *terminal = socket.replug().map_err(|error| format!("{error:#}"))?;
        }
        self.unplugged().push((port, plug));
        Ok(())
    }

    fn plug(&self, port: u8) -> Result<(), String> {
        let mut unplugged = self.unplugged();
        let place = unplugged.iter().position(|(known, _)| *known == port);
        let (_, plug) = unplugged.remove(place.ok_or("it is plugged in")?);
        self.bus
            .plug(port, plug)
            .map_err(|error| format!("{error:#}"))
    }

    fn unplugged(&self) -> std::sync::MutexGuard<'_, Vec<(u8, Plug)>> {
        self.unplugged
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn may_be_probe(name: &str) -> bool {
    is_port(name) || product_of(name).is_some()
}

/// The product of `0483:3752`, a USB id of ST.
fn product_of(name: &str) -> Option<u16> {
    let product = name.strip_prefix(&format!("{:04x}:", stlink::VENDOR))?;
    u16::from_str_radix(product, 16).ok()
}

/// The kernel's names of USB serial ports.
fn is_port(name: &str) -> bool {
    let digits = name.strip_prefix("ttyACM");
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests;
