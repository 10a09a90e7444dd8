//! Compares fast accesses to SRAM, single ones and runs of words, with the same accesses made in
//! the general way.

use crate::core::board::Board;

/// The handler of line 0, which uses the stack. The programs work on the words at 0x20000100; r4
/// points to their middle.
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

/// Everything that a run leaves, and when.
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
    // After a store that is still on the bus, and to the device itself.
    "str r5, [r9, #0xF00]\n ldm.w r4, {r0-r3}\n str r5, [r9, #0xF00]\n stm r4!, {r5, r6}\n add r10, r9, #0x40\n stm r10, {r5-r8}",
    // Into code that was executed: two functions of two halfwords, which then exchange their
    // places.
    "ldr r0, =0x20000400\n ldr r1, =0x47702401\n ldr r2, =0x47702602\n stm r0, {r1, r2}\n adds r3, r0, #1\n blx r3\n adds r3, #4\n blx r3\n movs r3, r1\n mov r1, r2\n mov r2, r3\n stm r0, {r1, r2}\n adds r3, r0, #1\n movs r4, #0\n movs r6, #0\n blx r3\n ldm r0, {r7, r8}",
    // The debug monitor watches the third word of a run. Without the monitor, BKPT ends the
    // program.
    "poke 0xE0001020, 0x20000148\n poke 0xE0001028, 7\n poke DEMCR, 0x01010000\n stm r4, {r5-r8}\n nop\n ldm r4, {r0-r3}\n nop\n poke DEMCR, 0x01000000",
    // The MPU protects the first KiB, which contains the run.
    "poke SHCSR, 0x70000\n ldr r0, =0xE000ED90\n ldr r1, =0x20000010\n str r1, [r0, #12]\n ldr r1, =0x00000013\n str r1, [r0, #16]\n movs r1, #5\n str r1, [r0, #4]\n dsb\n isb\n stmdb r4, {r5-r8}\n bkpt 1",
    "svc 0\n b 2f\n function svcall\n mov r10, #3\n bx lr\n .pool\n 2: str r10, [r9]",
];

/// Single accesses.
const SINGLY: [&str; 7] = [
    "str r5, [r4]\n strh r6, [r4, #4]\n strb r7, [r4, #7]\n ldr r0, [r4]\n ldrh r1, [r4, #4]\n ldrb r2, [r4, #7]\n ldr r3, [r4, r5]\n str r5, [r9]",
    // Loads in a row, stores in a row, and each after the other.
    "ldr r0, [r4]\n ldr r1, [r4, #4]\n ldrb r2, [r4, #8]\n str r5, [r4]\n str r6, [r4, #4]\n ldr r3, [r4]\n strb r3, [r4, #5]\n ldrh r0, [r4, #4]\n str r0, [r9]",
    // After a store that is still on the bus, and to the device itself.
    "str r5, [r9, #0xF00]\n ldr r0, [r4]\n str r5, [r9, #0xF00]\n str r6, [r4]\n str r5, [r9, #0xF00]\n ldrb r1, [r4]\n str r5, [r9, #0xF00]\n strh r1, [r9, #0x40]\n ldr r2, [r9]",
    // Unaligned, and at both ends of the SRAM.
    "str.w r5, [r4, #1]\n ldr.w r0, [r4, #2]\n strh.w r6, [r4, #3]\n ldrh.w r1, [r4, #1]\n mov r2, #0x20000000\n str r7, [r2]\n add r3, r2, #0x7f00\n strb.w r8, [r3, #255]\n ldr.w r7, [r3, #252]\n ldrb r6, [r2]\n str r7, [r9]",
    // Into code that was executed.
    "ldr r0, =0x20000400\n ldr r1, =0x47702401\n ldr r2, =0x47702602\n str r1, [r0]\n adds r3, r0, #1\n blx r3\n str r2, [r0]\n blx r3\n movs r1, #7\n strb r1, [r0]\n blx r3\n movw r1, #0x2609\n strh r1, [r0]\n blx r3\n ldr r7, [r0]",
    // The debug monitor watches a word.
    "poke 0xE0001020, 0x20000148\n poke 0xE0001028, 7\n poke DEMCR, 0x01010000\n str r5, [r4, #8]\n nop\n ldrb r0, [r4, #9]\n nop\n str r5, [r4]\n poke DEMCR, 0x01000000",
    // The MPU protects the first KiB.
    "poke SHCSR, 0x70000\n ldr r0, =0xE000ED90\n ldr r1, =0x20000010\n str r1, [r0, #12]\n ldr r1, =0x00000013\n str r1, [r0, #16]\n movs r1, #5\n str r1, [r0, #4]\n dsb\n isb\n str r5, [r4]\n bkpt 1",
];

#[test]
fn an_access_and_a_run_in_one_go_are_as_in_general() {
    for program in SINGLY.iter().chain(&PROGRAMS) {
        let singly = outcome(program, None, false);
        assert_eq!(outcome(program, None, true), singly, "{program}");
    }
}

#[test]
fn an_interrupt_finds_them_in_the_same_place() {
    for program in [SINGLY[1], PROGRAMS[0]] {
        for arrival in 60..90 {
            let singly = outcome(program, Some(arrival), false);
            assert_eq!(outcome(program, Some(arrival), true), singly, "{arrival}");
        }
    }
}
