//! Halting debug as a debugger sees it through the core's registers (DDI 0403E, C1).

use crate::core::board::Board;
use cortex_m::RunEnd;

const DHCSR: u32 = 0xE000_EDF0;
const DFSR: u32 = 0xE000_ED30;
const DEMCR: u32 = 0xE000_EDFC;
const KEY: u32 = 0xA05F_0000;
const S_HALT: u32 = 1 << 17;
const S_LOCKUP: u32 = 1 << 19;
const S_RETIRE_ST: u32 = 1 << 24;
const S_RESET_ST: u32 = 1 << 25;

fn run(board: &mut Board) -> RunEnd {
    board.core.run(&mut board.memory, 10_000).unwrap()
}

#[test]
fn a_step_executes_one_instruction() {
    let mut board = Board::new("movs r0, #1\n movs r0, #2\n movs r0, #3\n bkpt 0\n");
    board.debug_write(DHCSR, KEY | 3);
    assert_eq!((run(&mut board), board.r(0)), (RunEnd::Held, 0));
    for expected in [1, 2] {
        board.debug_write(DHCSR, KEY | 5);
        assert_eq!((run(&mut board), board.r(0)), (RunEnd::Held, expected));
        assert_ne!(board.debug_read(DHCSR) & S_HALT, 0);
    }
    board.debug_write(DHCSR, KEY | 1);
    assert_eq!((run(&mut board), board.r(0)), (RunEnd::Held, 3));
    assert_eq!(board.debug_read(DFSR), 0b11, "HALTED, then BKPT");
    board.debug_write(DFSR, 0b01);
    assert_eq!(board.debug_read(DFSR), 0b10);
}

/// C1.5.4: with C_MASKINTS a pending interrupt waits. Without it, the step ends at the first
/// instruction of the handler.
#[test]
fn a_step_enters_a_pending_exception_unless_interrupts_are_masked() {
    let source = "poke ICSR, 0x10000000\n movs r3, #1\n movs r3, #2\n bkpt 0\n .pool\n function pendsv\n movs r4, #1\n bx lr\n";
    for (maskints, expected) in [(0, 14), (8, 0)] {
        let mut board = Board::new(source);
        board.debug_write(DHCSR, KEY | 0b11);
        board.debug_write(DHCSR, KEY | 0b11 | maskints);
        for _ in 0..4 {
            board.debug_write(DHCSR, KEY | 0b101 | maskints);
            run(&mut board);
        }
        assert_eq!(board.core.registers().xpsr() & 0x1FF, expected);
        assert_eq!(board.r(4), 0, "no instruction of the handler yet");
    }
}

#[test]
fn hard_faults_are_caught_before_their_handler() {
    let mut board = Board::new("udf 1\n function hard_fault\n movs r4, #1\n bkpt 0\n");
    board.debug_write(DHCSR, KEY | 1);
    board.debug_write(DEMCR, 1 << 10);
    assert_eq!(run(&mut board), RunEnd::Held);
    assert_eq!((board.core.registers().xpsr() & 0x1FF, board.r(4)), (3, 0));
    assert_eq!(board.debug_read(DFSR), 1 << 3);
}

/// TRM table 8-4: DFSR is cleared at power-up only.
#[test]
fn a_reset_leaves_the_reason_of_the_last_halt() {
    let mut board = Board::new("bkpt 0\n");
    board.debug_write(DHCSR, KEY | 1);
    assert_eq!(run(&mut board), RunEnd::Held);
    let Board { core, memory, .. } = &mut board;
    core.reset(memory).unwrap();
    assert_eq!(board.debug_read(DFSR), 0b10);
}

#[test]
fn resets_are_caught_and_told_once() {
    let mut board = Board::new("movs r0, #1\n1: b 1b\n");
    board.debug_write(DHCSR, KEY | 1);
    assert_eq!(run(&mut board), RunEnd::Deadline);
    assert_ne!(board.debug_read(DHCSR) & S_RETIRE_ST, 0);
    board.debug_write(DEMCR, 1);
    let Board { core, memory, .. } = &mut board;
    core.reset(memory).unwrap();
    let status = board.debug_read(DHCSR);
    assert_eq!(
        status & (S_HALT | S_RESET_ST | S_RETIRE_ST),
        S_HALT | S_RESET_ST
    );
    assert_eq!(board.debug_read(DHCSR) & S_RESET_ST, 0);
    assert_eq!(run(&mut board), RunEnd::Held);
}

/// TRM 3.7: the bus matrix has the bit-band aliases, so they work for the debugger too.
#[test]
fn a_debugger_reaches_single_bits_by_their_alias() {
    const WORD: u32 = 0x2000_0100;
    let bit = |n: u32| 0x2200_0000 + (WORD - 0x2000_0000) * 32 + 4 * n;
    let mut board = Board::new("1: b 1b\n");
    board.debug_write(WORD, 0xF0);
    assert_eq!([3, 4].map(|n| board.debug_read(bit(n))), [0, 1]);
    board.debug_write(bit(4), 0xFFFF_FFFE);
    board.debug_write(bit(0), 1);
    assert_eq!(board.debug_read(WORD), 0xE1);
}

/// C1.6.2: software cannot enable halting, and a write without the key does nothing.
#[test]
fn dhcsr_is_the_debuggers_own() {
    let mut board = Board::new("poke 0xE000EDF0, 0xA05F0003\n movs r4, #1\n1: b 1b\n .pool\n");
    assert_eq!((run(&mut board), board.r(4)), (RunEnd::Deadline, 1));
    board.debug_write(DHCSR, 3);
    assert_eq!(board.debug_read(DHCSR) & (S_HALT | 3), 0);
}

#[test]
fn a_core_without_its_debugger_goes_on() {
    let mut board = Board::new("movs r4, #1\n1: b 1b\n");
    board.debug_write(DHCSR, KEY | 3);
    assert_eq!((run(&mut board), board.r(4)), (RunEnd::Held, 0));
    board.core.detach_debugger();
    assert_eq!((run(&mut board), board.r(4)), (RunEnd::Deadline, 1));
}

/// B1.5.15: a core that has locked up shows it to a debugger, with the PC at 0xFFFFFFFE, until it
/// is halted.
#[test]
fn a_lock_up_shows() {
    let mut board = Board::new("1: b 1b\n");
    board.debug_write(DHCSR, KEY | 1);
    board.core.lock_up();
    assert_eq!(run(&mut board), RunEnd::Held);
    let status = board.debug_read(DHCSR);
    assert_eq!(status & (S_HALT | S_LOCKUP), S_LOCKUP);
    assert_eq!(board.core.pc(), 0xFFFF_FFFE);
    board.debug_write(DHCSR, KEY | 3);
    assert_eq!(board.debug_read(DHCSR) & (S_HALT | S_LOCKUP), S_HALT);
}
