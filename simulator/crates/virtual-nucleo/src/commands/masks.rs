//! `--masks`: the log of what holds interrupts off, and what the firmware's file tells about it.

use super::run::RunArguments;
use anyhow::{Context, Result};
use clap::Args;
use cortex_m::Watched;
use machine::observe::masks::{Kernel, Masks};
use machine::observe::stacks::{Code, Stacks};
use std::fs;
use std::path::Path;
use stm32::chip::{MOST_SRAM_BYTES, SRAM_BASE};
use stm32::memory::image::parse_hexadecimal;

/// Where the program's kernel has its variables.
#[derive(Args)]
pub struct KernelArguments {
    /// The word of SRAM that points to the task that runs, for --masks and --marks.
    #[arg(long, value_name = "0xADDRESS", value_parser = task_word)]
    pub task_word: Option<u32>,
    /// The value in SRAM that is 0 unless the scheduler is locked, of 1, 2 or 4 bytes: at an address,
    /// or at an offset from what a word points to.
    #[arg(long, value_name = "0xADDRESS:BYTES|*0xADDRESS+OFFSET:BYTES", value_parser = scheduler_value)]
    scheduler_value: Option<Watched>,
}

fn task_word(text: &str) -> Result<u32> {
    word_of_sram(text).with_context(|| {
        format!("{text:?} is no word of SRAM: write 0x and a hexadecimal address that 4 divides")
    })
}

fn scheduler_value(text: &str) -> Result<Watched> {
    let value = watched(text)
        .filter(|value| matches!(value.bytes, 1 | 2 | 4) && value.address % value.bytes == 0);
    value.with_context(|| format!("{text:?} is no value in SRAM: write 0xADDRESS:BYTES or *0xADDRESS+OFFSET:BYTES, such as 0x20000010:4; the bytes are 1, 2 or 4, and divide address and offset"))
}

fn watched(text: &str) -> Option<Watched> {
    let (place, bytes) = text.split_once(':')?;
    let bytes = bytes.parse().ok()?;
    let (pointer, address) = match place.strip_prefix('*') {
        None => {
            let address = parse_hexadecimal(place)?;
            (None, is_word_of_sram(address & !3).then_some(address)?)
        }
        Some(place) => {
            let (pointer, offset) = place.split_once('+')?;
            (Some(word_of_sram(pointer)?), offset.parse().ok()?)
        }
    };
    Some(Watched {
        pointer,
        address,
        bytes,
    })
}

fn word_of_sram(text: &str) -> Option<u32> {
    parse_hexadecimal(text).filter(|address| is_word_of_sram(*address))
}

fn is_word_of_sram(address: u32) -> bool {
    let sram = SRAM_BASE..SRAM_BASE + MOST_SRAM_BYTES as u32;
    sram.contains(&address) && address % 4 == 0
}

/// An empty log.
pub fn log(arguments: &RunArguments) -> Result<Masks> {
    let kernel = Kernel {
        scheduler_locked: arguments.kernel.scheduler_value,
        current_task: arguments.kernel.task_word,
    };
    let stacks = match (&arguments.board.firmware, &arguments.mask_stacks) {
        (Some(elf), Some(_)) => Some(Stacks::new(code(elf)?)),
        _ => None,
    };
    Ok(Masks::new(kernel, stacks))
}

/// The functions of a firmware.
pub fn code(elf: &Path) -> Result<Code> {
    let name = elf.display();
    let file = fs::read(elf).with_context(|| format!("cannot read the firmware {name}"))?;
    Code::parse(&file).with_context(|| format!("cannot read the functions of {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_at_an_address_or_beyond_a_pointer() {
        let value = |text, pointer, address, bytes| {
            let value = Watched {
                pointer,
                address,
                bytes,
            };
            assert_eq!(scheduler_value(text).unwrap(), value);
        };
        value("0x20000010:4", None, 0x2000_0010, 4);
        value("0x20000011:1", None, 0x2000_0011, 1);
        value("*0x20000010+14:2", Some(0x2000_0010), 14, 2);
        for text in [
            "",
            "0x20000010",
            "0x20000010:3",
            "0x20000011:2",
            "20000010:4",
            "*0x20000010:4",
            "*0x20000012+0:4",
            "*0x20000010+-4:4",
            "0x08000000:4",
        ] {
            assert!(scheduler_value(text).is_err(), "{text}");
        }
    }
}
