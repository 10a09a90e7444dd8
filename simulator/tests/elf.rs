//! Firmware files: good ones are placed where the linker said, damaged ones are refused with a
//! message.

use crate::support;

use cortex_m::bus::Width;
use std::fs;
use stm32::memory::elf::{Firmware, SymbolError};
use stm32::memory::Memory;
use support::{board_firmware, scratch};

fn firmware_bytes() -> Vec<u8> {
    fs::read(scratch(&board_firmware(""))).unwrap()
}

/// Offsets in the ELF header and in a program header (System V ABI, chapters 4 and 5).
const E_MACHINE: usize = 18;
const E_PHOFF: usize = 28;
const P_OFFSET: usize = 4;
const P_PADDR: usize = 12;

fn word(file: &[u8], offset: usize) -> usize {
    u32::from_le_bytes(file[offset..offset + 4].try_into().unwrap()) as usize
}

fn set_word(file: &mut [u8], offset: usize, value: u32) {
    file[offset..offset + 4].copy_from_slice(&value.to_le_bytes());
}

#[test]
fn segments_and_symbols_are_where_the_linker_put_them() {
    let firmware = Firmware::parse(&firmware_bytes()).unwrap();
    let mut memory = Memory::default();
    firmware.place(&mut memory).unwrap();
    assert_eq!(memory.read(0x0800_0000, Width::Word), Some(0x2001_8000));
    let reset = firmware.symbol("reset").unwrap();
    assert_eq!(memory.read(0x0800_0004, Width::Word), Some(reset | 1));
    assert_eq!(firmware.symbol("interrupts"), Ok(0x2000_0000));
    assert_eq!(
        firmware.symbol("nothing"),
        Err(SymbolError::Missing {
            name: "nothing".into(),
            near: Vec::new(),
        })
    );
}

#[test]
fn a_misspelt_symbol_gets_the_names_near_it() {
    let firmware = Firmware::parse(&firmware_bytes()).unwrap();
    let error = firmware.symbol("interupts").unwrap_err();
    assert_eq!(
        error.to_string(),
        "no symbol named interupts: did you mean interrupts?"
    );
}

#[test]
fn other_machines_and_other_files_are_refused() {
    let good = firmware_bytes();
    let mut other_machine = good.clone();
    other_machine[E_MACHINE] = 0x3E;
    for file in [
        &other_machine[..],
        b"",
        b"\x7FELF",
        b"#!/bin/sh\n",
        &[0; 4096],
    ] {
        assert!(Firmware::parse(file).is_err());
    }
}

#[test]
fn a_segment_outside_the_file_or_the_memories_is_refused() {
    let good = firmware_bytes();
    let header = word(&good, E_PHOFF);
    let mut outside_file = good.clone();
    set_word(&mut outside_file, header + P_OFFSET, u32::MAX - 8);
    assert!(Firmware::parse(&outside_file).is_err());
    let mut outside_memory = good.clone();
    set_word(&mut outside_memory, header + P_PADDR, 0x0807_FFF0);
    let firmware = Firmware::parse(&outside_memory).unwrap();
    assert!(firmware.place(&mut Memory::default()).is_err());
}

#[test]
fn no_truncation_and_no_flipped_byte_makes_the_loader_panic() {
    let good = firmware_bytes();
    let load = |file: &[u8]| {
        if let Ok(firmware) = Firmware::parse(file) {
            let _ = firmware.place(&mut Memory::default());
            let _ = firmware.symbol("reset");
        }
    };
    (0..good.len())
        .step_by(61)
        .for_each(|end| load(&good[..end]));
    let header_bytes = 52 + 32 * 4;
    let section_headers = good.len() - 40 * 12..good.len();
    for offset in (0..header_bytes).chain(section_headers) {
        for value in [0, 0x7F, 0xFF] {
            let mut file = good.clone();
            file[offset] = value;
            load(&file);
        }
    }
}
