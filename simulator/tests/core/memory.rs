//! Alignment, exclusives, bit bands and what answers nowhere. What loads and stores do, the differential
//! test compares.

use crate::core::board::{finished, run, Board, DEVICE, SRAM};
use cortex_m::Stop;

#[test]
fn memory_serves_unaligned_words_unless_told_to_trap() {
    // A3.2.1; B3.2.8, CCR.UNALIGN_TRP; B3.2.15, UNALIGNED.
    let program = "ldr r0, =0x20000001\n ldr r1, =0x12345678\n str r1, [r0]\n ldr r2, [r0]\n ldrh r3, [r0, #2]";
    let board = run(program);
    assert_eq!(board.registers([2, 3]), [0x1234_5678, 0x1234]);
    let board = finished(&format!("poke CCR, 0x208\n {program}\n .pool\n function hard_fault\n ldr r7, =CFSR\n ldr r7, [r7]\n bkpt 0"));
    assert_eq!(board.r(7), 1 << 24);
}

#[test]
fn doubles_multiples_and_devices_must_be_aligned() {
    for access in [
        "ldrd r1, r2, [r0]",
        "ldm r0, {r1, r2}",
        "stm r0, {r1, r2}",
        "ldrex r1, [r0]",
    ] {
        unaligned_fault("0x20000002", access);
    }
    unaligned_fault("0x40000002", "ldr r1, [r0]");
}

fn unaligned_fault(address: &str, access: &str) {
    let board = finished(&format!("ldr r0, ={address}\n {access}\n bkpt 1\n .pool\n function hard_fault\n ldr r7, =CFSR\n ldr r7, [r7]\n bkpt 0"));
    assert_eq!(board.r(7), 1 << 24, "{access}");
}

#[test]
fn exclusives_succeed_once() {
    let board = run("ldr r0, =0x20000000\n movs r1, #5\n ldrex r2, [r0]\n strex r3, r1, [r0]\n strex r4, r1, [r0]\n ldrex r5, [r0]\n clrex\n strex r6, r5, [r0]");
    assert_eq!(board.registers([3, 4, 5, 6]), [0, 1, 5, 1]);
}

#[test]
fn bit_bands_reach_single_bits() {
    // TRM 3.7: bit n of the word at offset w is the word at 32 w + 4 n of the alias.
    let mut board = run("ldr r0, =0x20000000\n movs r1, #0xf0\n str r1, [r0]\n ldr r2, =0x22000000 + 4*4\n ldr r3, [r2]\n movs r4, #0\n str r4, [r2]\n movs r4, #1\n str r4, [r2, #4*5]");
    assert_eq!(board.r(3), 1);
    assert_eq!(board.memory.word(SRAM), 0x2E0);
}

#[test]
fn what_answers_nowhere_is_a_bus_fault_with_its_address() {
    let board = finished("poke SHCSR, 0x20000\n ldr r0, =0x30000004\n ldr r1, [r0]\n .pool\n function bus_fault\n ldr r1, =CFSR\n ldr r2, [r1]\n ldr r3, [r1, #16]\n bkpt 0");
    assert_eq!(board.registers([2, 3]), [0x8200, 0x3000_0004]);
}

#[test]
fn an_unmodelled_register_stops_the_run_with_its_name() {
    let stop = Board::new("ldr r0, =0x40000104\n str r0, [r0]").stop();
    let Stop::Unmodelled { address, .. } = stop else {
        panic!("{stop}")
    };
    assert_eq!(address, DEVICE + 0x104);
    assert!(stop
        .to_string()
        .starts_with("a test register at 0x40000104 is not modelled (pc 0x0800"));
}

#[test]
fn bit_bands_of_peripherals_and_of_nothing() {
    // TRM 3.7: 0x42000000 is the alias of 0x40000000. A write reads and writes the whole word. Byte
    // accesses see the bit too.
    let board = run("ldr r2, =0x42000000 + 4*31\n movs r4, #0xff\n strb r4, [r2]\n ldr r0, =0x20000000\n movs r1, #0x80\n str r1, [r0]\n ldr r3, =0x22000000 + 4*7\n ldrb r5, [r3]\n ldrh r6, [r3, #4]");
    let (offset, value, _) = board.memory.written[0];
    assert_eq!((offset, value >> 31), (0, 1));
    assert_eq!(board.registers([5, 6]), [1, 0]);
    let board = finished("poke SHCSR, 0x20000\n ldr r0, =0x22200000\n ldr r1, [r0]\n .pool\n function bus_fault\n ldr r1, =CFSR\n ldr r2, [r1]\n bkpt 0");
    assert_eq!(board.r(2), 0x8200, "0x20010000 answers nowhere");
}
