//! `--masks`: the log of what holds interrupts off, and what the firmware's file tells about it.

use super::BoardArguments;
use anyhow::{Context, Result};
use machine::observe::masks::{Kernel, Masks, CURRENT_TASK, SCHEDULER_SUSPENDED};
use machine::observe::stacks::{Code, Stacks};
use std::fs;
use std::path::Path;
use stm32::chip::MOST_SRAM_BYTES;
use stm32::memory::elf::Firmware;
use stm32::memory::SRAM_BASE;

/// An empty log. Without firmware it knows of no kernel.
pub fn log(
    board: &BoardArguments,
    with_stacks: bool,
    firmware: Option<&Firmware>,
) -> Result<Masks> {
    let word = |name| firmware?.variable(name).filter(is_word_of_sram);
    let kernel = Kernel {
        scheduler_suspended: word(SCHEDULER_SUSPENDED),
        current_task: word(CURRENT_TASK),
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
