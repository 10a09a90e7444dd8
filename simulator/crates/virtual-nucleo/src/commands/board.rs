//! What is on the board before reset: the options that the commands share.

use super::limit::whole;
use super::notes::MannersArguments;
use anyhow::{anyhow, bail, Context, Result};
use clap::{Args, ValueEnum};
use cortex_m::bus::Width;
use cortex_m::Timing;
use machine::snapshot::Snapshot;
use machine::Machine;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use stm32::chip::{FLASH_BASE, SRAM_BASE};
use stm32::chip_file::ChipArgument;
use stm32::memory::elf::Firmware;
use stm32::memory::image::{parse_hexadecimal, ImageArgument};
use stm32::memory::Memory;
use stm32::partners::attachment::Attachment;
use stm32::peripherals::rcc::Hse;

/// What is on the board before reset.
#[derive(Args)]
pub struct BoardArguments {
    /// The firmware, an ELF executable.
    #[arg(required_unless_present = "from_snapshot")]
    pub firmware: Option<PathBuf>,
    /// A file to place in memory, for example operations.bin@0x08040000.
    #[arg(long, value_name = "FILE@0xADDRESS")]
    image: Vec<ImageArgument>,
    /// The chip: stm32f401re, stm32f411re, stm32f446re or another, with or without stm32; or the
    /// path of a table of your own that ends in .toml.
    #[arg(long, value_name = "CHIP", default_value = "stm32f401re")]
    pub chip: ChipArgument,
    /// A crystal at OSC_IN, for example 8MHz or 8000000; none: nothing is there. Without it: the
    /// Nucleo's clock of 8 MHz.
    #[arg(long, value_name = "HZ|none", value_parser = crystal)]
    pub hse: Option<Hse>,
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
    pub from_snapshot: Option<PathBuf>,
    /// Run a program that was made for another core, such as a Cortex-M0, all the same.
    #[arg(long)]
    any_core: bool,
    /// Hang something on the chip's wires: i2c1=eeprom.toml, spi1:pa4=sensor.toml (pa4 selects it),
    /// usart1=modem.toml, pa0=edges.csv. May be repeated; docs/reference/partners.md describes the files.
    #[arg(long, value_name = "WHERE=FILE")]
    attach: Vec<Attachment>,
    #[command(flatten)]
    pub manners: MannersArguments,
}

#[derive(Clone, Copy, ValueEnum)]
enum TimingArgument {
    Ideal,
    Nucleo,
}

impl BoardArguments {
    /// The board that was asked for, and its firmware if it is known; without any its flash is
    /// erased. Errors are those of the input, or the [`Stop`](cortex_m::Stop) of a core that cannot
    /// leave reset.
    pub fn machine(&self) -> Result<(Option<Firmware>, Machine)> {
        let path = self.firmware.as_deref();
        let firmware = path.map(read_firmware).transpose()?;
        let mut machine = match &self.from_snapshot {
            Some(path) => restored(path, firmware.as_ref())?,
            None => {
                let memory = self.memory(firmware.as_ref())?;
                let timing = match self.timing {
                    TimingArgument::Ideal => Timing::Ideal,
                    TimingArgument::Nucleo => Timing::Nucleo,
                };
                Machine::new(memory, timing)?
            }
        };
        if let Some(value) = self.flash_acr {
            machine.force_flash_access_control(value);
        }
        if let Some(hse) = self.hse {
            machine.set_hse(hse);
        }
        machine.set_manners(self.manners.manners());
        if let Some(flags) = self.reset_flags {
            machine.set_reset_flags(flags);
        }
        for attachment in &self.attach {
            let hung = machine.attach(attachment);
            hung.map_err(|why| anyhow!("--attach: {why}"))?;
        }
        Ok((firmware, machine))
    }

    /// Memory with the firmware and the images in it.
    fn memory(&self, firmware: Option<&Firmware>) -> Result<Memory> {
        let chip = self.chip.0;
        let mut memory = Memory::of(chip);
        if let Some(firmware) = firmware {
            let other = firmware.other_core(chip.core.kind);
            if let Some(other) = other.filter(|_| !self.any_core) {
                let this = chip.core.facts();
                bail!(
                    "the program was made for {other}, and this is a {} ({}): build it with -mcpu={}, or run it all the same with --any-core",
                    this.title,
                    this.architecture,
                    this.name
                )
            }
            let placed = firmware.place(&mut memory);
            placed.context("cannot load the firmware")?;
        }
        for image in &self.image {
            let path = image.path.display();
            let bytes =
                fs::read(&image.path).with_context(|| format!("cannot read the image {path}"))?;
            memory
                .load(image.address, &bytes)
                .with_context(|| format!("cannot place {path}"))?;
        }
        if let Some(firmware) = firmware {
            check_vectors(&memory, firmware)?;
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

/// FLASH_ACR.LATENCY, PRFTEN, ICEN and DCEN (RM0368 §3.8.1), and PRFTBE (RM0091 §3.5.1).
const FLASH_ACR_BITS: u32 = 0x71F;

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

/// Crystals that the oscillator drives (DS10086, table "HSE 4-26 MHz oscillator characteristics").
const CRYSTALS_HZ: RangeInclusive<u64> = 4_000_000..=26_000_000;

/// What is at the chip's OSC_IN.
fn crystal(text: &str) -> Result<Hse> {
    let (number, unit) = match text.strip_suffix("MHz") {
        Some(number) => (number, 1_000_000),
        None => (text, 1),
    };
    let hz = whole(number).and_then(|number| number.checked_mul(unit));
    match hz.filter(|hz| CRYSTALS_HZ.contains(hz)) {
        Some(hz) => Ok(Hse::Crystal { hz }),
        None if text == "none" => Ok(Hse::Nothing),
        None => bail!(
            "{text:?} is no crystal of 4 to 26 MHz: write for example 8MHz or 8000000, or none"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frequency_or_none() {
        let hz = |hz| Hse::Crystal { hz };
        assert_eq!(crystal("8MHz").unwrap(), hz(8_000_000));
        assert_eq!(crystal("12288000").unwrap(), hz(12_288_000));
        assert_eq!(crystal("none").unwrap(), Hse::Nothing);
        for text in [
            "",
            "MHz",
            "8",
            "8 MHz",
            "+8MHz",
            "27MHz",
            "3999999",
            "None",
            "99999999999999999999",
        ] {
            assert!(crystal(text).is_err(), "{text}");
        }
    }
}
