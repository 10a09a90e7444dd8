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

#[test]
fn commands_are_answered_as_published() {
    let word = |value: u32| [&[0x80, 0, 0, 0][..], &value.to_le_bytes()].concat();
    let cases: Vec<(&str, Vec<u8>, Vec<u8>)> = vec![
        ("mode is debug", vec![0xF5], vec![2, 0]),
        (
            "DPIDR",
            vec![0xF2, 0x45, 0xFF, 0xFF, 0, 0],
            word(0x2BA0_1477),
        ),
        (
            "IDR of AP 0",
            vec![0xF2, 0x45, 0, 0, 0xFC, 0],
            word(0x2477_0011),
        ),
        (
            "BASE of AP 0",
            vec![0xF2, 0x45, 0, 0, 0xF8, 0],
            word(0xE00F_F003),
        ),
        ("IDR of AP 1", vec![0xF2, 0x45, 1, 0, 0xFC, 0], word(0)),
        (
            "CPUID",
            vec![0xF2, 0x36, 0x00, 0xED, 0x00, 0xE0],
            word(0x410F_C241),
        ),
        (
            "idcodes",
            vec![0xF2, 0x31],
            [word(0x2BA0_1477), vec![0; 4]].concat(),
        ),
        (
            "PC of the reset vector",
            vec![0xF2, 0x33, 15],
            word(0x0800_0008),
        ),
        (
            "SP of the reset vector",
            vec![0xF2, 0x33, 13],
            word(0x2000_1000),
        ),
        ("SWD at 4.6 MHz", vec![0xF2, 0x43, 0], OK.to_vec()),
        ("SWD at 5 kHz", vec![0xF2, 0x43, 0x1E, 0x03], OK.to_vec()),
        ("open AP 0", vec![0xF2, 0x4B, 0, 0], OK.to_vec()),
        ("open AP 1: bad AP", vec![0xF2, 0x4B, 1, 0], vec![0x1D, 0]),
        ("close AP 0", vec![0xF2, 0x4C, 0], OK.to_vec()),
        ("close it again: bad AP", vec![0xF2, 0x4C, 0], vec![0x1D, 0]),
        (
            "an AP above 255",
            vec![0xF2, 0x45, 0, 1, 0, 0],
            vec![0x1D, 0],
        ),
        (
            "no trace",
            vec![0xF2, 0x40, 0, 16, 0, 0, 0, 0],
            vec![0x20, 0],
        ),
        ("no trace bytes", vec![0xF2, 0x42], vec![0, 0]),
        ("JTAG is not wired", vec![0xF2, 0x30, 0xA4], vec![0x08, 0]),
        ("reset driven elsewhere", vec![0xF2, 0x3C, 3], vec![0x08, 0]),
        ("V3's frequencies", vec![0xF2, 0x62, 0], vec![0x42, 0]),
        ("V3's version", vec![0xFB], vec![0x42, 0]),
        ("nothing", vec![0xF2, 0xFF], vec![0x42, 0]),
    ];
    let mut probe = halting();
    for (name, command, expected) in cases {
        let mut answer = ask(&mut probe, &command);
        answer.resize(answer.len().max(expected.len()), 0xEE);
        // A refusal is as long as the answer would have been.
        assert_eq!(answer[..expected.len()], expected, "{name}");
    }
}

#[test]
fn the_version_is_that_of_a_v2_1_without_a_disk() {
    let mut probe = probe();
    let answer = ask(&mut probe, &[0xF1]);
    let version = u16::from_be_bytes([answer[0], answer[1]]);
    assert_eq!(version >> 12, 2);
    assert!(
        version >> 6 & 0x3F >= 36,
        "pyOCD reads the board's identifier by a command"
    );
    let mass_storage = version & 0x3F;
    assert!(
        !(7..=12).contains(&mass_storage),
        "OpenOCD takes it for SWIM alone"
    );
    assert_eq!(answer[2..], [0x83, 0x04, 0x4B, 0x37]);
    assert_eq!(ask(&mut probe, &[0xF2, 0x56])[..6], *b"\x80\x000720");
}

#[test]
fn the_supply_is_three_volts_and_three_tenths() {
    let answer = ask(&mut probe(), &[0xF7]);
    let word = |at| f64::from(u32::from_le_bytes(answer[at..at + 4].try_into().unwrap()));
    let volts = 2.0 * word(4) * 1.2 / word(0); // pyOCD and OpenOCD alike
    assert!((volts - 3.3).abs() < 0.005, "{volts}");
}

#[test]
fn debug_mode_is_entered_and_left() {
    let mut probe = probe();
    assert_eq!(ask(&mut probe, &[0xF5]), [1, 0]);
    assert_eq!(ask(&mut probe, &[0xF2, 0x33, 15])[0], 0x08);
    assert_eq!(ask(&mut probe, &memory(0x07, SRAM, 4)), [0; 4]);
    assert_eq!(last_transfer(&mut probe).0, 0x08);
    assert_eq!(ask(&mut probe, &[0xF2, 0x30, 0xA3]), OK);
    assert_eq!(ask(&mut probe, &[0xF5]), [2, 0]);
    for leave in [&[0xF2, 0x21][..], &[0xF3, 0x07], &[0xF4, 0x01]] {
        send(&mut probe, leave);
        assert_eq!(
            probe.bulk_in(0x81, 64),
            Ok(None),
            "{leave:x?} has no answer"
        );
    }
    assert_eq!(ask(&mut probe, &[0xF5]), [1, 0]);
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

#[test]
fn one_byte_comes_as_two() {
    let mut probe = halting();
    write(&mut probe, 0x0D, SRAM, &[0x5A]);
    let answer = ask(&mut probe, &memory(0x0C, SRAM, 1));
    assert_eq!((answer.len(), answer[0]), (2, 0x5A));
}

#[test]
fn a_fixed_address_is_written_and_read_again_and_again() {
    let mut probe = halting();
    write(&mut probe, 0x50, SRAM, &[1, 0, 0, 0, 2, 0, 0, 0]);
    assert_eq!(
        ask(&mut probe, &memory(0x54, SRAM, 8)),
        [2, 0, 0, 0, 2, 0, 0, 0]
    );
    assert_eq!(ask(&mut probe, &memory(0x07, [4, 0, 0, 0x20], 4)), [0; 4]);
}

#[test]
fn a_bus_fault_says_where_and_sticks_until_it_is_cleared() {
    let mut probe = halting();
    // The last word of SRAM, and one behind it.
    let answer = ask(&mut probe, &memory(0x07, [0xFC, 0x7F, 0x01, 0x20], 8));
    assert_eq!(answer.len(), 8);
    assert_eq!(last_transfer(&mut probe), (0x11, 0x2001_8000));
    assert_eq!(ask(&mut probe, &[0xF2, 0x3B]), [0x11, 0]);
    // Whatever comes next is refused, and CTRL/STAT has STICKYERR.
    ask(&mut probe, &memory(0x07, SRAM, 4));
    assert_eq!(last_transfer(&mut probe).0, 0x19);
    write(&mut probe, 0x08, SRAM, &[0; 4]);
    assert_eq!(last_transfer(&mut probe).0, 0x19);
    assert_eq!(ask(&mut probe, &[0xF2, 0x36, 0, 0, 0, 0x20])[0], 0x19);
    assert_eq!(
        ask(&mut probe, &[0xF2, 0x45, 0xFF, 0xFF, 4, 0])[4] & 1 << 5,
        1 << 5
    );
    // ABORT with STKERRCLR, as pyOCD does.
    assert_eq!(
        ask(&mut probe, &[0xF2, 0x46, 0xFF, 0xFF, 0, 0, 0x1E, 0, 0, 0]),
        OK
    );
    ask(&mut probe, &memory(0x07, SRAM, 4));
    assert_eq!(last_transfer(&mut probe), (0x80, 0));
}

#[test]
fn entering_debug_mode_clears_a_predecessors_error() {
    let mut probe = halting();
    ask(&mut probe, &memory(0x07, [0, 0, 0, 0x60], 4));
    send(&mut probe, &[0xF2, 0x21]);
    assert_eq!(ask(&mut probe, &[0xF2, 0x30, 0xA3]), OK);
    ask(&mut probe, &memory(0x07, SRAM, 4));
    assert_eq!(last_transfer(&mut probe), (0x80, 0));
}

#[test]
fn what_the_probe_cannot_transfer_is_refused() {
    let cases = [
        (0x07, [2, 0, 0, 0x20], 4, 0x0A),
        (0x07, SRAM, 6, 0x0A),
        (0x47, [1, 0, 0, 0x20], 2, 0x0A),
        (0x0C, SRAM, 65, 0x08),
        (0x07, SRAM, 6148, 0x08),
    ];
    let mut probe = halting();
    for (code, address, bytes, status) in cases {
        let command = memory(code, address, bytes);
        send(&mut probe, &command);
        let answer = probe.bulk_in(0x81, 8192).unwrap().unwrap();
        assert_eq!(answer, vec![0; bytes.into()], "{command:x?}");
        assert_eq!(last_transfer(&mut probe).0, status, "{command:x?}");
    }
}

#[test]
fn registers_keep_what_is_written() {
    let mut probe = halting();
    assert_eq!(
        ask(&mut probe, &[0xF2, 0x34, 3, 0x78, 0x56, 0x34, 0x12]),
        OK
    );
    let all = ask(&mut probe, &[0xF2, 0x3A]);
    assert_eq!(all.len(), 88);
    let register = |n: usize| u32::from_le_bytes(all[4 + 4 * n..8 + 4 * n].try_into().unwrap());
    assert_eq!(
        (register(3), register(13), register(15)),
        (0x1234_5678, 0x2000_1000, 0x0800_0008)
    );
}

/// As OpenOCD erases (RM0368, 3.5.3): the core is halted, and BSY is waited for.
#[test]
fn a_sector_is_erased_by_the_flash_registers_of_a_halted_core() {
    let mut probe = halting();
    let mut set = |offset: u8, value: u32| {
        let words = [
            &[0xF2, 0x35, offset, 0x3C, 0x02, 0x40][..],
            &value.to_le_bytes(),
        ];
        assert_eq!(ask(&mut probe, &words.concat()), OK);
    };
    for key in [0x4567_0123, 0xCDEF_89AB] {
        set(0x04, key);
    }
    set(0x10, 2 << 8 | 1 << 1); // 32 bits, SER, sector 0
    set(0x10, 2 << 8 | 1 << 1 | 1 << 16); // STRT
    let status = ask(&mut probe, &[0xF2, 0x36, 0x0C, 0x3C, 0x02, 0x40]);
    assert_eq!(
        status,
        [0x80, 0, 0, 0, 0, 0, 0, 0],
        "neither BSY nor an error"
    );
    let erased = ask(&mut probe, &memory(0x07, [0, 0, 0, 8], 12));
    assert_eq!(erased, [0xFF; 12]);
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
fn data_comes_in_any_pieces() {
    let mut probe = halting();
    send(&mut probe, &memory(0x08, SRAM, 8));
    for piece in [&[1, 2, 3][..], &[4, 5], &[6, 7, 8]] {
        probe.bulk_out(0x01, piece).unwrap();
    }
    send(&mut probe, &memory(0x07, SRAM, 8));
    assert_eq!(
        probe.bulk_in(0x81, 64),
        Ok(Some(vec![1, 2, 3, 4, 5, 6, 7, 8]))
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
fn half_a_command_does_not_outlive_its_program() {
    let mut probe = halting();
    send(&mut probe, &memory(0x08, SRAM, 8));
    probe.release();
    let mode = ask(&mut probe, &[0xF5]);
    assert_eq!(mode, [1, 0], "a command, not data; and no debug mode");
    send(&mut probe, &[0xF5]);
    assert_eq!(
        ask(&mut probe, &[0xF1]).len(),
        6,
        "an unread answer is dropped"
    );
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
