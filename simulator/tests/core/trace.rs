//! ITM stimulus ports (C1.7) and the DWT's counters of exception and sleep cycles (C1.8).

use crate::core::board::{finished_with, run, Board};

const ITM: &str = ".equ TER, 0xE0000E00\n .equ TPR, 0xE0000E40\n .equ TCR, 0xE0000E80\n .equ LAR, 0xE0000FB0\n ldr r9, =0xE0000000\n poke DEMCR, 0x01000000\n";
const ENABLE: &str = "poke LAR, 0xC5ACCE55\n poke TCR, 1\n poke TER, 0x102\n";

/// Port, bytes and value of each write that a listener received.
fn heard(program: &str) -> Vec<(u8, u8, u32)> {
    let mut board = Board::new(&format!("{ITM} {program}\n bkpt 0\n .pool\n"));
    board.core.itm_mut().listen();
    board.finish();
    let stimuli = board.core.itm_mut().take();
    stimuli.iter().map(|s| (s.port, s.bytes, s.value)).collect()
}

const WRITES: &str = "movs r1, #65\n strb r1, [r9, #4]\n ldr r2, =0x12345678\n str r2, [r9, #32]\n strh r2, [r9, #4]\n str r2, [r9]\n";

#[test]
fn writes_to_enabled_ports_are_heard_with_their_width() {
    let expected = [(1, 1, 65), (8, 4, 0x1234_5678), (1, 2, 0x5678)];
    assert_eq!(heard(&format!("{ENABLE} {WRITES}")), expected);
}

#[test]
fn each_enable_is_needed() {
    for without in ["poke LAR, 0xC5ACCE55", "poke TCR, 1", "poke TER, 0x102"] {
        assert_eq!(
            heard(&format!("{} {WRITES}", ENABLE.replace(without, ""))),
            [],
            "{without}"
        );
    }
    assert_eq!(
        heard(&format!("{ENABLE} poke DEMCR, 0\n {WRITES}")),
        [],
        "TRCENA"
    );
    assert_eq!(
        heard(&format!(
            "poke LAR, 1\n poke TCR, 1\n poke TER, 0x102\n {WRITES}"
        )),
        [],
        "another key"
    );
}

#[test]
fn a_port_says_whether_it_takes_a_write() {
    let board = run(&format!("{ITM} {ENABLE} ldr r4, [r9, #4]\n ldr r5, [r9]\n ldr r6, =0xE0000FB4\n ldr r7, [r6]\n poke LAR, 0\n ldr r8, [r6]"));
    assert_eq!(board.registers([4, 5, 7, 8]), [1, 0, 1, 3]);
}

#[test]
fn unprivileged_code_reaches_the_groups_that_tpr_leaves_it() {
    // Group 1 (ports 8 to 15) is privileged; port 1 is in group 0.
    let writes = format!("{ENABLE} poke TPR, 2\n movs r0, #1\n msr control, r0\n isb\n {WRITES}");
    assert_eq!(heard(&writes), [(1, 1, 65), (1, 2, 0x5678)]);
}

#[test]
fn exception_cycles_are_those_of_entry_and_return() {
    let count = "poke DEMCR, 0x01000000\n poke CTRL, 0x40001\n ldr r11, =0xE000100C\n";
    let board = run(&format!("{count} ldr r4, [r11]\n svc 0\n ldr r5, [r11]\n svc 0\n ldr r6, [r11]\n ldr r7, =CTRL\n ldr r7, [r7]\n b 1f\n .pool\n function svcall\n nop\n nop\n bx lr\n1:"));
    assert_eq!(board.registers([4, 5, 6]), [0, 12 + 10, 2 * (12 + 10)]);
    assert_eq!(board.r(7), 0x4004_0001);
}

#[test]
fn sleep_cycles_wrap_at_eight_bits() {
    // WFI begins before cycle 100 and ends at 1,000. All of the sleep is counted, modulo 256.
    let board = finished_with("poke DEMCR, 0x01000000\n poke CTRL, 0x80001\n poke ISER, 1\n ldr r11, =0xE0001010\n ldr r10, =CYCCNT\n cpsid i\n ldr r4, [r10]\n wfi\n ldr r5, [r10]\n ldr r6, [r11]\n bkpt 0\n .pool", &[(1_000, 0, true)]);
    let slept = board.r(5) - board.r(4);
    // The cycles of two loads and of WFI itself are not sleep.
    assert!(
        (1..=8).contains(&(slept.wrapping_sub(board.r(6)) & 0xFF)),
        "{slept} {}",
        board.r(6)
    );
}

#[test]
fn asking_for_packets_stops_the_run() {
    // EXCTRCENA, PCSAMPLENA, CYCEVTENA (C1.8.7).
    for bit in [16, 12, 22] {
        let stop = Board::new(&format!("poke CTRL, {}\n .pool", 1 | 1 << bit)).stop();
        assert!(stop.to_string().contains("DWT's packets"), "{stop}");
    }
}
