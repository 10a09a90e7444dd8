//! `--masks`: the log of what holds interrupts off, and what the firmware's file tells about it.

use super::board::BoardArguments;
use anyhow::{Context, Result};
use clap::Args;
use cortex_m::Watched;
use machine::observe::masks::{Kernel, Masks};
use machine::observe::stacks::{Code, Stacks};
use std::fs;
use std::path::Path;
use std::str::FromStr;
use stm32::chip::MOST_SRAM_BYTES;
use stm32::chip::SRAM_BASE;
use thiserror::Error;

/// Where the program's kernel has its variables.
#[derive(Args, Clone, Default)]
pub struct KernelArguments {
    /// The word of SRAM that points to the task that runs, for --masks and --marks.
    #[arg(long, value_name = "0xADDRESS")]
    task_word: Option<WordOfSram>,
    /// The value in SRAM that is 0 unless the scheduler is locked, of 1, 2 or 4 bytes: at an address,
    /// or at an offset from what a word points to.
    #[arg(long, value_name = "0xADDRESS:BYTES|*0xADDRESS+OFFSET:BYTES")]
    scheduler_value: Option<SchedulerValue>,
}

impl KernelArguments {
    pub fn task_word(&self) -> Option<u32> {
        self.task_word.map(|word| word.0)
    }
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum BadPlace {
    #[error("{0:?} is no word of SRAM: write 0x and a hexadecimal address that 4 divides")]
    Word(String),
    #[error("{0:?} is no value in SRAM: write 0xADDRESS:BYTES or *0xADDRESS+OFFSET:BYTES, such as 0x20000010:4; the bytes are 1, 2 or 4, and divide address and offset")]
    Value(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WordOfSram(u32);

impl FromStr for WordOfSram {
    type Err = BadPlace;

    fn from_str(text: &str) -> Result<Self, BadPlace> {
        let word = hexadecimal(text).filter(is_word_of_sram);
        word.map(WordOfSram)
            .ok_or_else(|| BadPlace::Word(text.into()))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SchedulerValue(Watched);

impl FromStr for SchedulerValue {
    type Err = BadPlace;

    fn from_str(text: &str) -> Result<Self, BadPlace> {
        watched(text)
            .filter(|value| matches!(value.bytes, 1 | 2 | 4) && value.address % value.bytes == 0)
            .map(SchedulerValue)
            .ok_or_else(|| BadPlace::Value(text.into()))
    }
}

fn watched(text: &str) -> Option<Watched> {
    let (place, bytes) = text.split_once(':')?;
    let bytes = bytes.parse().ok()?;
    let Some(place) = place.strip_prefix('*') else {
        let address = hexadecimal(place).filter(|address| is_word_of_sram(&(address & !3)))?;
        return Some(Watched {
            pointer: None,
            address,
            bytes,
        });
    };
    let (pointer, offset) = place.split_once('+')?;
    Some(Watched {
        pointer: Some(hexadecimal(pointer).filter(is_word_of_sram)?),
        address: offset.parse().ok()?,
        bytes,
    })
}

fn hexadecimal(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// An empty log.
pub fn log(board: &BoardArguments, with_stacks: bool, kernel: &KernelArguments) -> Result<Masks> {
    let kernel = Kernel {
        scheduler_locked: kernel.scheduler_value.map(|value| value.0),
        current_task: kernel.task_word(),
    };
    let elf = board.firmware.as_deref().filter(|_| with_stacks);
    Ok(Masks::new(kernel, elf.map(stacks).transpose()?))
}

fn is_word_of_sram(address: &u32) -> bool {
    let sram = SRAM_BASE..SRAM_BASE + MOST_SRAM_BYTES as u32;
    sram.contains(address) && address % 4 == 0
}

fn stacks(elf: &Path) -> Result<Stacks> {
    let name = elf.display();
    let file = fs::read(elf).with_context(|| format!("cannot read the firmware {name}"))?;
    let code =
        Code::parse(&file).with_context(|| format!("cannot read the functions of {name}"))?;
    Ok(Stacks::new(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_at_an_address_or_beyond_a_pointer() {
        let parsed = |text: &str| text.parse::<SchedulerValue>().map(|value| value.0);
        let value = |pointer, address, bytes| {
            Ok(Watched {
                pointer,
                address,
                bytes,
            })
        };
        assert_eq!(parsed("0x20000010:4"), value(None, 0x2000_0010, 4));
        assert_eq!(parsed("0x20000011:1"), value(None, 0x2000_0011, 1));
        let beyond = value(Some(0x2000_0010), 14, 2);
        assert_eq!(parsed("*0x20000010+14:2"), beyond);
        for text in [
            "",
            "0x20000010",
            "0x20000010:3",
            "0x20000011:2",
            "20000010:4",
        ] {
            assert!(parsed(text).is_err(), "{text}");
        }
        for text in [
            "*0x20000010:4",
            "*0x20000012+0:4",
            "*0x20000010+-4:4",
            "0x08000000:4",
        ] {
            assert!(parsed(text).is_err(), "{text}");
        }
    }
}
