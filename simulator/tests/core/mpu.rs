//! The Memory Protection Unit (B3.5).

use crate::core::board::{finished, Board};

/// `region number, base, attributes`, then `protect control` turns the unit on. Attributes are RASR
/// without ENABLE.
const MACROS: &str = "
        .equ MPU, 0xE000ED90
        .macro region number, base, attributes
        ldr r0, =MPU
        ldr r1, =\\base + 0x10 + \\number
        str r1, [r0, #12]
        ldr r1, =\\attributes + 1
        str r1, [r0, #16]
        .endm
        .macro protect control
        ldr r0, =MPU
        movs r1, #\\control
        str r1, [r0, #4]
        dsb
        isb
        .endm
        .macro unprivileged
        movs r0, #1
        msr control, r0
        isb
        .endm
        poke SHCSR, 0x70000
        b 9f
        .pool
        function mem_manage
        ldr r5, =CFSR
        ldr r6, [r5, #12]
        ldr r5, [r5]
        mrs r7, ipsr
        bkpt 0
        .pool
        9:
";
const FULL: u32 = 3 << 24;
const PRIVILEGED: u32 = 1 << 24;
const READ_ONLY: u32 = 6 << 24;
const NONE: u32 = 0;
const XN: u32 = 1 << 28;

/// SIZE of RASR: 2^log2 bytes.
fn size(log2: u32) -> u32 {
    (log2 - 1) << 1
}

/// Normal memory.
const NORMAL: u32 = 1 << 17;

/// Region 0 gives the code to everyone, region 1 the stack.
fn base_regions() -> String {
    let code = READ_ONLY | NORMAL | size(16);
    let stack = FULL | NORMAL | XN | size(12);
    format!("region 0, 0x08000000, {code}\n region 1, 0x20007000, {stack}\n")
}

fn run(program: &str) -> Board {
    finished(&format!("{MACROS} {program}\n bkpt 0\n .pool\n"))
}

/// CFSR and MMFAR after `program`, with region 2 over the first KiB of SRAM. 0 if nothing faulted.
fn outcome(attributes: u32, control: u32, program: &str) -> (u32, u32) {
    let board = run(&format!("{} region 2, 0x20000000, {}\n protect {control}\n ldr r8, =0x20000040\n movs r5, #0\n movs r6, #0\n {program}", base_regions(), attributes | size(10)));
    (
        board.r(5),
        if board.r(5) & 0x80 != 0 {
            board.r(6)
        } else {
            0
        },
    )
}

const DATA: (u32, u32) = (0x82, 0x2000_0040);
const FINE: (u32, u32) = (0, 0);

#[test]
fn permissions_are_those_of_the_table() {
    // Table B3-15: for each AP what privileged and unprivileged code may do.
    let table = [
        (0b000, [false, false, false, false]),
        (0b001, [true, true, false, false]),
        (0b010, [true, true, true, false]),
        (0b011, [true, true, true, true]),
        (0b101, [true, false, false, false]),
        (0b110, [true, false, true, false]),
        (0b111, [true, false, true, false]),
    ];
    let programs = [
        "ldr r1, [r8]",
        "str r1, [r8]",
        "unprivileged\n ldr r1, [r8]",
        "unprivileged\n str r1, [r8]",
    ];
    for (permissions, allowed) in table {
        for (program, allowed) in programs.iter().zip(allowed) {
            let expected = if allowed { FINE } else { DATA };
            let found = outcome(permissions << 24 | NORMAL, 1, program);
            assert_eq!(found, expected, "AP {permissions:#05b}: {program}");
        }
    }
}

#[test]
fn the_background_map_serves_privileged_code_that_asks_for_it() {
    // B3.5.3: no region, PRIVDEFENA.
    for (control, program, faults) in [
        (1, "ldr r1, [r8, #0x800]", true),
        (5, "ldr r1, [r8, #0x800]", false),
        (5, "unprivileged\n ldr r1, [r8, #0x800]", true),
    ] {
        let expected = if faults { (0x82, 0x2000_0840) } else { FINE };
        assert_eq!(
            outcome(FULL | NORMAL, control, program),
            expected,
            "{control}: {program}"
        );
    }
}

#[test]
fn the_highest_region_that_covers_an_address_decides() {
    let inner = NONE | NORMAL | size(5);
    let program = |offset: u32| {
        format!("region 3, 0x20000040, {inner}\n ldr r8, =0x20000040\n ldr r1, [r8, #{offset}]")
    };
    assert_eq!(outcome(FULL | NORMAL, 1, &program(0)), DATA);
    assert_eq!(outcome(FULL | NORMAL, 1, &program(32)), FINE);
}

#[test]
fn a_disabled_subregion_leaves_its_eighth_to_others() {
    // B3.5.1: bit n of SRD removes the n-th eighth of the region. An eighth of 1 KiB is 128 bytes.
    assert_eq!(outcome(NONE | NORMAL | 1 << 8, 5, "ldr r1, [r8]"), FINE);
    assert_eq!(outcome(NONE | NORMAL | 2 << 8, 5, "ldr r1, [r8]"), DATA);
    let second = outcome(NONE | NORMAL | 1 << 8, 5, "ldr r1, [r8, #0x40]");
    assert_eq!(second, (0x82, 0x2000_0080));
}

#[test]
fn execute_never_is_an_instruction_access_violation() {
    let store_code = "ldr r1, =0xbf00be00\n str r1, [r8]\n add r9, r8, #1\n bx r9";
    assert_eq!(
        outcome(FULL | NORMAL, 1, store_code),
        FINE,
        "the program ends at its own BKPT"
    );
    assert_eq!(outcome(FULL | NORMAL | XN, 1, store_code), (1, 0));
    assert_eq!(
        outcome(
            PRIVILEGED | NORMAL,
            1,
            &store_code.replace("bx", "unprivileged\n bx")
        ),
        (1, 0)
    );
}

#[test]
fn code_that_ran_before_the_unit_was_on_is_checked_again() {
    let routine = "ldr r1, =0x47704770\n str r1, [r8]\n add r9, r8, #1\n blx r9\n";
    let program = format!("ldr r8, =0x20000040\n {routine} {} region 2, 0x20000000, {}\n protect 1\n movs r5, #0\n blx r9", base_regions(), FULL | NORMAL | XN | size(10));
    assert_eq!(run(&program).r(5), 1);
}

#[test]
fn hard_fault_and_faultmask_go_unprotected_unless_hfnmiena() {
    assert_eq!(outcome(NONE | NORMAL, 1, "cpsid f\n ldr r1, [r8]"), FINE);
    let mut board = Board::new(&format!("{MACROS} {} region 2, 0x20000000, {}\n protect 3\n ldr r8, =0x20000040\n cpsid f\n ldr r1, [r8]\n bkpt 1\n .pool\n", base_regions(), NONE | size(10)));
    let stop = board.stop().to_string();
    assert!(stop.contains("locked up: a MemManage fault"), "{stop}");
}

#[test]
fn stacking_and_unstacking_faults_have_bits_of_their_own() {
    // B3.2.15, MSTKERR and MUNSTKERR: no address.
    let stack = "ldr r0, =0x20000100\n msr psp, r0\n movs r0, #2\n msr control, r0\n isb\n";
    let program = format!("{stack} svc 0");
    assert_eq!(outcome(NONE | NORMAL, 1, &program), (1 << 4, 0));
    // The handler removes access to the thread's stack. The frame was written before.
    let board = run(&format!("{} region 2, 0x20000000, {}\n protect 5\n {stack} movs r5, #0\n svc 0\n b 1f\n .pool\n function svcall\n region 2, 0x20000000, {}\n bx lr\n .pool\n1:", base_regions(), FULL | NORMAL | size(10), NONE | NORMAL | size(10)));
    assert_eq!(board.registers([5, 7]), [1 << 3, 4]);
}

#[test]
fn registers_read_as_the_manual_says() {
    // B3.5.5-B3.5.9: eight regions. RBAR selects by VALID and reads REGION. The aliases are the
    // same registers.
    let board = run("ldr r0, =MPU\n ldr r4, [r0]\n ldr r1, =0x20000413\n str r1, [r0, #12]\n ldr r5, [r0, #8]\n ldr r6, [r0, #12]\n ldr r1, =0xffffffff\n str r1, [r0, #24]\n ldr r7, [r0, #16]\n ldr r8, [r0, #0x28]\n movs r1, #7\n strb r1, [r0, #16]\n ldr r9, [r0, #16]");
    assert_eq!(board.registers([4, 5, 6]), [0x800, 3, 0x2000_0403]);
    assert_eq!(
        board.registers([7, 8, 9]),
        [0x173F_FF3F, 0x173F_FF3F, 0x173F_FF07]
    );
}

#[test]
fn an_unaligned_access_to_device_memory_faults() {
    let board = Board::new(&format!("{MACROS} {} region 2, 0x20000000, {}\n protect 1\n ldr r8, =0x20000041\n ldr r1, [r8]\n bkpt 1\n .pool\n function usage_fault\n ldr r5, =CFSR\n ldr r5, [r5]\n bkpt 0", base_regions(), FULL | 1 << 16 | size(10)));
    let mut board = board;
    board.finish();
    assert_eq!(board.r(5), 1 << 24);
}

#[test]
fn unprivileged_instructions_of_privileged_code_are_checked_as_unprivileged() {
    for (program, expected) in [
        ("ldrt r1, [r8]", DATA),
        ("strbt r1, [r8]", DATA),
        ("ldr r1, [r8]", FINE),
    ] {
        assert_eq!(
            outcome(PRIVILEGED | NORMAL, 5, program),
            expected,
            "{program}"
        );
    }
}
