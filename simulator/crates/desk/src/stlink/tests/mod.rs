//! Command blocks and their answers, byte by byte as pyOCD's `stlink.py` and OpenOCD's
//! `stlink_usb.c` send and read them, on a machine that RM0368 and DDI 0403 describe.

use super::interpreter::BLOCK_BYTES;
use super::*;
use cortex_m::Timing;
use machine::debug_port::{Answer, DebugPort, Failure, Request};
use machine::Machine;
use stm32::memory::Memory;

/// The vector table: the stack, and a loop at 0x08000008.
const FIRMWARE: [u8; 12] = [0x00, 0x10, 0x00, 0x20, 9, 0, 0, 8, 0xFE, 0xE7, 0x00, 0xBF];
const SRAM: [u8; 4] = [0x00, 0x00, 0x00, 0x20];
const OK: [u8; 2] = [0x80, 0];

struct Board {
    machine: Machine,
    port: DebugPort,
}

impl Target for Board {
    fn ask(&mut self, request: Request) -> Result<Answer, Failure> {
        self.port.answer(&mut self.machine, request)
    }
}

fn probe() -> StLink<Board> {
    let mut memory = Memory::default();
    memory.load(0x0800_0000, &FIRMWARE).unwrap();
    let board = Board {
        machine: Machine::new(memory, Timing::Nucleo).unwrap(),
        port: DebugPort::default(),
    };
    StLink::new(board, Serial::of_desk("test"))
}

/// A probe in debug mode whose core is halted.
fn halting() -> StLink<Board> {
    let mut probe = probe();
    assert_eq!(ask(&mut probe, &[0xF2, 0x30, 0xA3]), OK);
    let halt = [0xF2, 0x35, 0xF0, 0xED, 0x00, 0xE0, 0x03, 0x00, 0x5F, 0xA0];
    assert_eq!(ask(&mut probe, &halt), OK);
    probe
}

fn send(probe: &mut StLink<Board>, start: &[u8]) {
    let mut block = [0; BLOCK_BYTES];
    block[..start.len()].copy_from_slice(start);
    probe.bulk_out(0x01, &block).unwrap();
}

fn ask(probe: &mut StLink<Board>, start: &[u8]) -> Vec<u8> {
    send(probe, start);
    probe.bulk_in(0x81, 6144).unwrap().expect("an answer")
}

fn last_transfer(probe: &mut StLink<Board>) -> (u8, u32) {
    let answer = ask(probe, &[0xF2, 0x3E]);
    assert_eq!((answer.len(), answer[1]), (12, 0));
    (
        answer[0],
        u32::from_le_bytes(answer[4..8].try_into().unwrap()),
    )
}

/// A memory command's block. The access port is 0, and CSW is left to the probe.
fn memory(code: u8, address: [u8; 4], bytes: u16) -> Vec<u8> {
    [&[0xF2, code][..], &address, &bytes.to_le_bytes()].concat()
}

fn write(probe: &mut StLink<Board>, code: u8, address: [u8; 4], data: &[u8]) {
    send(probe, &memory(code, address, data.len() as u16));
    probe.bulk_out(0x01, data).unwrap();
}

fn bytes(words: &str) -> Vec<u8> {
    let words = words.split_whitespace();
    words
        .map(|word| u8::from_str_radix(word, 16).unwrap())
        .collect()
}

#[test]
fn conversations_go_as_published() {
    let mut probe = probe();
    let mut name = "";
    for line in include_str!("conversations.txt").lines() {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        match verb {
            "" | "#" => {}
            "=" => (probe, name) = (halting(), rest),
            ">" => send(&mut probe, &bytes(rest)),
            "+" => probe.bulk_out(0x01, &bytes(rest)).unwrap(),
            "close" => probe.release(),
            "<" => {
                let answer = probe.bulk_in(0x81, 8192).unwrap();
                let (start, open) = rest
                    .strip_suffix(" ...")
                    .map_or((rest, false), |s| (s, true));
                let expected: Vec<&str> = start
                    .split_whitespace()
                    .filter(|word| *word != "nothing")
                    .collect();
                let hex = answer.iter().flatten().map(|byte| format!("{byte:02X}"));
                let hex: Vec<String> = hex.collect();
                let alike = |(hex, word): (&String, &&str)| *word == "??" || hex == word;
                assert!(
                    (hex.len() == expected.len() || open && hex.len() > expected.len())
                        && answer.is_some() != (rest == "nothing")
                        && hex.iter().zip(&expected).all(alike),
                    "{name}: {rest} is {hex:?}"
                );
            }
            _ => panic!("{line}"),
        }
    }
}

#[test]
fn the_supply_is_three_volts_and_three_tenths() {
    let answer = ask(&mut probe(), &[0xF7]);
    let word = |at| f64::from(u32::from_le_bytes(answer[at..at + 4].try_into().unwrap()));
    let volts = 2.0 * word(4) * 1.2 / word(0); // pyOCD and OpenOCD alike
    assert!((volts - 3.3).abs() < 0.005, "{volts}");
}

#[test]
fn memory_is_read_as_it_was_written_in_each_width() {
    let mut probe = halting();
    let data: Vec<u8> = (0..64u8).map(|n| n.wrapping_mul(7)).collect();
    let widths = [(0x0D, 0x0C, 1), (0x48, 0x47, 2), (0x08, 0x07, 4)];
    for (place, (write_code, _, size)) in (1u8..).zip(widths) {
        let address = [size, place, 0, 0x20]; // across a word for bytes and half-words
        write(&mut probe, write_code, address, &data);
        assert_eq!(last_transfer(&mut probe), (0x80, 0));
        for (_, read_code, by) in widths.iter().filter(|(_, _, by)| by <= &size) {
            assert_eq!(
                ask(&mut probe, &memory(*read_code, address, 64)),
                data,
                "by {by}"
            );
        }
    }
}

#[test]
fn a_block_longer_than_the_increment_is_whole() {
    let mut probe = halting();
    let data: Vec<u8> = (0..6144u32).map(|n| ((n * 31) >> 3) as u8).collect();
    let address = [0xF4, 0x03, 0x00, 0x20]; // 12 bytes before a KiB ends
    write(&mut probe, 0x08, address, &data);
    assert_eq!(last_transfer(&mut probe).0, 0x80);
    assert_eq!(ask(&mut probe, &memory(0x07, address, 6144)), data);
}

/// 64 bytes by byte and 6144 are the most. A refusal is as long as the answer would have been.
#[test]
fn a_transfer_that_is_too_long_is_refused() {
    let mut probe = halting();
    for (code, bytes) in [(0x0C, 65), (0x07, 6148)] {
        send(&mut probe, &memory(code, SRAM, bytes));
        let answer = probe.bulk_in(0x81, 8192).unwrap().unwrap();
        assert_eq!(answer, vec![0; bytes.into()]);
        assert_eq!(last_transfer(&mut probe).0, 0x08);
    }
}

#[test]
fn the_reset_line_holds_the_board() {
    let mut probe = halting();
    let held = |probe: &mut StLink<Board>, command: &[u8]| {
        assert_eq!(ask(probe, command), OK);
        probe.interpreter.target.port.holds_reset()
    };
    assert!(held(&mut probe, &[0xF2, 0x3C, 0]));
    assert!(!held(&mut probe, &[0xF2, 0x3C, 1]));
    assert!(!held(&mut probe, &[0xF2, 0x3C, 2]));
    // DHCSR.S_RESET_ST: there was a reset (DDI 0403, C1.6.2).
    assert_eq!(
        ask(&mut probe, &[0xF2, 0x36, 0xF0, 0xED, 0x00, 0xE0])[7] & 2,
        2
    );
}

#[test]
fn a_long_answer_is_read_in_whole_packets() {
    let mut probe = halting();
    send(&mut probe, &memory(0x07, SRAM, 160));
    assert_eq!(probe.bulk_in(0x81, 100), Err(Fault::Overflow));
    let lengths: Vec<Option<usize>> = (0..3)
        .map(|_| probe.bulk_in(0x81, 128).unwrap().map(|bytes| bytes.len()))
        .collect();
    assert_eq!(lengths, [Some(128), Some(32), None]);
}

#[test]
fn any_block_is_answered_or_not_and_the_probe_lives() {
    let mut random = crate::random::Random(1);
    let mut probe = halting();
    for _ in 0..20_000 {
        let mut block: Vec<u8> = (0..random.below(17)).map(|_| random.next() as u8).collect();
        if let [first, second, ..] = &mut block[..] {
            *first = [0xF2, 0xF2, 0xF2, *first][random.below(4) as usize];
            *second %= 0x64;
        }
        probe.bulk_out(0x01, &block).unwrap();
        let _ = probe.bulk_in(0x81, 64);
    }
    probe.release();
    assert_eq!(ask(&mut probe, &[0xF1]).len(), 6);
}

#[test]
fn a_simulation_that_stopped_is_a_probe_without_a_target() {
    let (wire, requests) = machine::debug_port::Wire::new();
    drop(requests);
    let mut probe = StLink::new(wire, Serial::of_desk("test"));
    probe.bulk_out(0x01, &[0xF2, 0x30, 0xA3]).unwrap();
    assert_eq!(probe.bulk_in(0x81, 64), Ok(Some(vec![0x09, 0])));
}

#[test]
fn serial_numbers_are_of_their_desk() {
    let serial = |name| Serial::of_desk(name).digits().to_owned();
    assert!(serial("a").len() == 24 && serial("a").chars().all(|digit| digit.is_ascii_hexdigit()));
    assert_eq!(serial("a"), serial("a"));
    assert_ne!(serial("a"), serial("b"));
}

/// Lengths, numbers and totals agree (USB 2.0, 9.6), and the endpoints are those pyOCD asks for.
#[test]
fn descriptors_are_well_formed() {
    let probe = probe();
    let all = &probe.descriptors().configuration;
    let mut parts = vec![];
    let mut rest = &all[..];
    while let [length, ..] = rest {
        let (part, behind) = rest.split_at(usize::from(*length));
        parts.push(part);
        rest = behind;
    }
    assert_eq!(usize::from(u16::from_le_bytes([all[2], all[3]])), all.len());
    let interfaces: Vec<&&[u8]> = parts.iter().filter(|part| part[1] == 4).collect();
    assert_eq!(usize::from(all[4]), interfaces.len());
    let classes: Vec<&[u8]> = interfaces.iter().map(|part| &part[5..8]).collect();
    assert_eq!(
        classes,
        [[0xFF, 0xFF, 0xFF], [8, 6, 0x50], [2, 2, 1], [10, 0, 0]]
    );
    let endpoints = parts.iter().filter(|part| part[1] == 5).count();
    let promised: u8 = interfaces.iter().map(|part| part[4]).sum();
    assert_eq!(usize::from(promised), endpoints);
    let debug: Vec<u8> = parts[2..5].iter().map(|part| part[2]).collect();
    assert_eq!(debug, [0x81, 0x01, 0x82]);
    let device = probe.descriptors().device;
    assert_eq!(
        (device[8..12].to_vec(), device[0]),
        (vec![0x83, 0x04, 0x4B, 0x37], 18)
    );
}
