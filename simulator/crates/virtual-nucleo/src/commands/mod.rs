//! The command line (docs/reference/virtual-nucleo.md).

mod capture;
mod counts;
mod desk;
mod edge_stream;
mod faults;
mod gaps;
mod hse;
mod latency;
mod limit;
mod marks;
mod masks;
mod notes;
mod outputs;
mod run;
mod save_point;
mod save_state;
mod semihosting;
mod serve;
mod stop_on;

use anyhow::{anyhow, bail, Context, Result};
use clap::{Args, Parser, Subcommand, ValueEnum};
use cortex_m::bus::Width;
use cortex_m::{Stop, Timing};
use machine::snapshot::Snapshot;
use machine::Machine;
use notes::MannersArguments;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use stm32::chip::{nucleo, Chip};
use stm32::chip::{FLASH_BASE, SRAM_BASE};
use stm32::chip_file::ChipArgument;
use stm32::memory::elf::Firmware;
use stm32::memory::image::{parse_hexadecimal, ImageArgument};
use stm32::memory::Memory;
use stm32::partners::Attachment;
use stm32::peripherals::rcc::Hse;

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
    /// Be a board on a desk: USB devices in a folder, an analyzer and an ST-Link, for stock drivers.
    Desk(Box<desk::DeskArguments>),
}

/// What is on the board before reset.
#[derive(Args)]
struct BoardArguments {
    /// The firmware, an ELF executable.
    #[arg(required_unless_present = "from_snapshot")]
    firmware: Option<PathBuf>,
    /// A file to place in memory, for example operations.bin@0x08040000.
    #[arg(long, value_name = "FILE@0xADDRESS")]
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
    /// Let the flash do what this value of FLASH_ACR says (wait states, PRFTEN, ICEN, DCEN),
    /// whatever the firmware sets; the register reads what the firmware wrote.
    #[arg(long, value_name = "0xVALUE", value_parser = flash_acr)]
    flash_acr: Option<u32>,
    /// The flags of RCC_CSR that the firmware finds, of the resets before. Without it: those of a
    /// supply that came.
    #[arg(long, value_name = "0xVALUE", value_parser = reset_flags)]
    reset_flags: Option<u32>,
    /// Go on from a snapshot, with its memory and timing; the firmware, if given, only names
    /// addresses.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["image", "timing", "flash_acr", "reset_flags", "chip", "hse", "attach"])]
    from_snapshot: Option<PathBuf>,
    /// Run a program that was made for another core, such as a Cortex-M0, all the same.
    #[arg(long)]
    any_core: bool,
    #[command(flatten)]
    partners: PartnerArguments,
    #[command(flatten)]
    manners: MannersArguments,
}

/// What hangs on the chip's pins.
#[derive(Args, Clone, Default)]
struct PartnerArguments {
    /// Hang something on the chip's wires: i2c1=eeprom.toml, spi1:pa4=sensor.toml (pa4 selects it),
    /// usart1=modem.toml, pa0=edges.csv. May be repeated; docs/reference/partners.md describes the files.
    #[arg(long, value_name = "WHERE=FILE")]
    attach: Vec<Attachment>,
}

impl PartnerArguments {
    /// Hangs them on a machine, if there is one.
    fn hang_on(&self, machine: &mut Result<Machine, Stop>) -> Result<()> {
        let Ok(machine) = machine else {
            return Ok(());
        };
        let mut attachments = self.attach.iter();
        let hung = attachments.try_for_each(|attachment| machine.attach(attachment));
        hung.map_err(|why| anyhow!("--attach: {why}"))
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum TimingArgument {
    Ideal,
    Nucleo,
}

impl BoardArguments {
    /// Nothing but a core.
    fn empty(timing: TimingArgument) -> BoardArguments {
        BoardArguments {
            firmware: None,
            image: Vec::new(),
            chip: ChipArgument(nucleo()),
            hse: None,
            timing,
            flash_acr: None,
            reset_flags: None,
            from_snapshot: None,
            any_core: false,
            partners: PartnerArguments::default(),
            manners: MannersArguments::polite(),
        }
    }

    fn timing(&self) -> Timing {
        match self.timing {
            TimingArgument::Ideal => Timing::Ideal,
            TimingArgument::Nucleo => Timing::Nucleo,
        }
    }

    fn has_board(&self) -> bool {
        self.firmware.is_some() || self.from_snapshot.is_some()
    }

    /// The board that was asked for, and its firmware if it is known. The outer error is one of the
    /// input. The inner error comes from the simulation.
    fn machine(&self) -> Result<(Option<Firmware>, Result<Machine, Stop>)> {
        let firmware = self.firmware.as_deref().map(read_firmware).transpose()?;
        let machine = match (&self.from_snapshot, &firmware) {
            (Some(path), _) => Ok(restored(path, firmware.as_ref())?),
            (None, Some(firmware)) => {
                self.check_core(firmware)?;
                let memory = self.memory(firmware)?;
                check_vectors(&memory, firmware)?;
                Machine::new(memory, self.timing())
            }
            (None, None) => bail!("no firmware: name its ELF"),
        };
        let mut machine = machine.map(|machine| {
            let mut machine = clocked(forced(machine, self.flash_acr), self.hse);
            machine.set_manners(self.manners.manners());
            if let Some(flags) = self.reset_flags {
                machine.set_reset_flags(flags);
            }
            machine
        });
        self.partners.hang_on(&mut machine)?;
        Ok((firmware, machine))
    }

    fn check_core(&self, firmware: &Firmware) -> Result<()> {
        let core = self.chip.0.core;
        match firmware.other_core(core.kind) {
            Some(other) if !self.any_core => {
                let this = core.facts();
                bail!(
                    "the program was made for {other}, and this is a {} ({}): build it with -mcpu={}, or run it all the same with --any-core",
                    this.title,
                    this.architecture,
                    this.name
                )
            }
            _ => Ok(()),
        }
    }

    /// Memory with the firmware and the images in it.
    fn memory(&self, firmware: &Firmware) -> Result<Memory> {
        let mut memory = Memory::of(self.chip.0);
        firmware
            .place(&mut memory)
            .context("cannot load the firmware")?;
        for image in &self.image {
            let path = image.path.display();
            let bytes =
                fs::read(&image.path).with_context(|| format!("cannot read the image {path}"))?;
            memory
                .load(image.address, &bytes)
                .with_context(|| format!("cannot place {path}"))?;
        }
        Ok(memory)
    }
}

/// An ELF whose first words are no vectors of this chip would fault at once; that is told instead.
fn check_vectors(memory: &Memory, firmware: &Firmware) -> Result<()> {
    let chip = memory.chip();
    let stack = memory.read(FLASH_BASE, Width::Word).unwrap_or(u32::MAX);
    if stack == u32::MAX {
        bail!(
            "no vector table at {FLASH_BASE:#010x}: the program begins at {:#010x}, as one behind a boot loader does; link it to the start of the flash",
            firmware.first_address()
        );
    }
    if !memory.can_hold_stack(stack & !3) {
        bail!(
            "the initial SP {stack:#010x} is outside the SRAM of the {} ({SRAM_BASE:#010x} to {:#010x}): link the program for this chip, or name its own with --chip",
            chip.name,
            SRAM_BASE + chip.sram_bytes as u32
        );
    }
    Ok(())
}

/// The machine, with this at its OSC_IN.
fn clocked(mut machine: Machine, hse: Option<Hse>) -> Machine {
    if let Some(hse) = hse {
        machine.set_hse(hse);
    }
    machine
}

/// FLASH_ACR.LATENCY, PRFTEN, ICEN and DCEN (RM0368 §3.8.1), and PRFTBE (RM0091 §3.5.1).
const FLASH_ACR_BITS: u32 = 0x71F;

/// The machine, whose flash does what this value of FLASH_ACR says.
fn forced(mut machine: Machine, flash_acr: Option<u32>) -> Machine {
    if let Some(value) = flash_acr {
        machine.force_flash_access_control(value);
    }
    machine
}

fn flash_acr(text: &str) -> Result<u32> {
    match parse_hexadecimal(text) {
        Some(value) if value & !FLASH_ACR_BITS == 0 => Ok(value),
        _ => bail!("{text:?} is no FLASH_ACR: write 0x and bits of {FLASH_ACR_BITS:#05x}"),
    }
}

fn reset_flags(text: &str) -> Result<u32> {
    parse_hexadecimal(text)
        .with_context(|| format!("{text:?} is no value of RCC_CSR: write 0x and its flags"))
}

fn read_firmware(path: &Path) -> Result<Firmware> {
    let name = path.display();
    let file = fs::read(path).with_context(|| format!("cannot read the firmware {name}"))?;
    Firmware::parse(&file).with_context(|| format!("cannot load {name}"))
}

/// The machine of a snapshot. If firmware is named, the flash must hold it.
fn restored(path: &Path, firmware: Option<&Firmware>) -> Result<Machine> {
    let name = path.display();
    let bytes = fs::read(path).with_context(|| format!("cannot read the snapshot {name}"))?;
    let snapshot =
        Snapshot::from_bytes(&bytes).with_context(|| format!("cannot continue from {name}"))?;
    let mut machine = snapshot.fork();
    // A debugger may have halted the core, and nobody is here to resume it.
    machine.core_mut().detach_debugger();
    if firmware.is_some_and(|firmware| !firmware.is_in(machine.soc().memory())) {
        bail!(
            "the snapshot {name} is of another firmware: name the one it was saved with, or none"
        );
    }
    Ok(machine)
}

/// Exit status of a run that the simulation could not continue.
const STOPPED: u8 = 3;

/// Exit status of a run that a condition of `--stop-on` ended.
const MET: u8 = 4;

/// Exit status of a run that ended in the handler of a fault.
const FAULTED: u8 = 5;

/// Exit status of a run that no condition of `--stop-on` ended.
const UNMET: u8 = 6;

/// Runs a command. Exit status 0: done. 1: bad input or output. 3: the simulation stopped. 4: a
/// condition was met. 5: the program ended in the handler of a fault. 6: no condition was met. With
/// semihosting, the program's own.
pub fn execute(arguments: Arguments) -> ExitCode {
    let outcome = match arguments.command {
        Command::Run(arguments) => run::execute(&arguments),
        Command::Latency(arguments) => latency::execute(&arguments),
        Command::Capture(arguments) => capture::execute(&arguments),
        Command::Serve(arguments) => serve::execute(&arguments),
        Command::Desk(arguments) => desk::execute(&arguments),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("virtual-nucleo: {error:#}");
        ExitCode::FAILURE
    })
}

/// Says why the simulation cannot go on, on which chip, and what to try first.
fn stopped(stop: &Stop, first_try: Option<(&Chip, &str)>) -> ExitCode {
    match (stop, first_try) {
        (Stop::Unmodelled { .. }, Some((chip, gaps))) => {
            let name = &chip.name;
            eprintln!("virtual-nucleo: {stop}; this is the {name}: first try {gaps}, which goes past what is not modelled");
        }
        _ => eprintln!("virtual-nucleo: {stop}"),
    }
    ExitCode::from(STOPPED)
}
