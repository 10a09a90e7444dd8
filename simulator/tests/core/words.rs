//! Runs of words that the core transfers in one go, against the same transferred word by word.

use crate::board::Board;

/// Line 0's handler, which uses the stack, and what the programs work on: words at 0x20000100, r4 in their middle.
const SETUP: &str = "
        poke ISER, 1
        poke DEMCR, 0x01000000
        b 1f
        .pool
        function irq0
        push {r0, r4}
        mvn r1, #0
        pop {r0, r4}
        bx lr
        function debug_monitor
        ldr r10, [sp, #24]
        adds r11, #1
        bx lr
        function mem_manage
        ldr r0, =CFSR
        ldr r10, [r0]
        ldr r11, [sp, #24]
        bkpt 0
        .pool
        1:
        ldr r4, =0x20000140
        ldr r9, =DEVICE
        movs r5, #5
        movs r6, #6
        movs r7, #7
        mov r8, #8
";

/// All that a run leaves behind, and when.
fn outcome(
    program: &str,
    arrival: Option<u64>,
    in_one_go: bool,
) -> impl PartialEq + std::fmt::Debug {
    let mut board = Board::new(&format!("{SETUP} {program}\n bkpt 0\n .pool\n"));
    board.memory.in_one_go = in_one_go;
    if let Some(cycle) = arrival {
        board.lines = vec![(cycle, 0, true), (cycle + 12, 0, false)];
    }
    board.finish();
    (
        (0..16).map(|n| board.r(n)).collect::<Vec<u32>>(),
        postcard::to_allocvec(&board.core).unwrap(),
        board.memory.sram,
        board.memory.written,
    )
}

const PROGRAMS: [&str; 7] = [
    "stm.w r4!, {r5-r8}\n ldmdb r4, {r0-r3}\n str r5, [r9]",
    "push {r0-r8}\n pop {r5-r8}\n add sp, #20\n str r5, [r9]",
    // Behind a store that is still on the bus, and to the device itself.
    "str r5, [r9, #0xF00]\n ldm.w r4, {r0-r3}\n str r5, [r9, #0xF00]\n stm r4!, {r5, r6}\n add r10, r9, #0x40\n stm r10, {r5-r8}",
    // Into code that has been executed: two functions of two halfwords, which then exchange their places.
    "ldr r0, =0x20000400\n ldr r1, =0x47702401\n ldr r2, =0x47702602\n stm r0, {r1, r2}\n adds r3, r0, #1\n blx r3\n adds r3, #4\n blx r3\n movs r3, r1\n mov r1, r2\n mov r2, r3\n stm r0, {r1, r2}\n adds r3, r0, #1\n movs r4, #0\n movs r6, #0\n blx r3\n ldm r0, {r7, r8}",
    // The debug monitor watches the third word of a run; without it BKPT ends the program again.
    "poke 0xE0001020, 0x20000148\n poke 0xE0001028, 7\n poke DEMCR, 0x01010000\n stm r4, {r5-r8}\n nop\n ldm r4, {r0-r3}\n nop\n poke DEMCR, 0x01000000",
    // The MPU protects the first KiB, where the run is.
    "poke SHCSR, 0x70000\n ldr r0, =0xE000ED90\n ldr r1, =0x20000010\n str r1, [r0, #12]\n ldr r1, =0x00000013\n str r1, [r0, #16]\n movs r1, #5\n str r1, [r0, #4]\n dsb\n isb\n stmdb r4, {r5-r8}\n bkpt 1",
    "svc 0\n b 2f\n function svcall\n mov r10, #3\n bx lr\n .pool\n 2: str r10, [r9]",
];

#[test]
fn a_run_in_one_go_is_as_one_word_after_the_other() {
    for program in PROGRAMS {
        let singly = outcome(program, None, false);
        assert_eq!(outcome(program, None, true), singly, "{program}");
    }
}

#[test]
fn an_interrupt_finds_a_run_in_the_same_place() {
    let program = PROGRAMS[0];
    for arrival in 60..90 {
        let singly = outcome(program, Some(arrival), false);
        assert_eq!(outcome(program, Some(arrival), true), singly, "{arrival}");
    }
}
