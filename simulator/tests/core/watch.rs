//! What holds interrupts off, as the core notes it, against CYCCNT as the program reads it.
//!
//! A load of CYCCNT right behind an instruction has its address on the bus one cycle after that
//! instruction's end. So two such loads are as far apart as the ends of the instructions before
//! them.

use crate::core::board::{Board, SRAM};
use cortex_m::{Change, Watched, What};

/// Starts CYCCNT; r11 = its address. The code that follows is aligned.
const COUNT: &str =
    "poke DEMCR, 0x01000000\n poke CTRL, 1\n ldr r11, =CYCCNT\n b 1f\n .pool\n .balign 16\n1:";

/// Runs `program` with and without a watch, to `bkpt 0`. Both must do and take the same.
fn watched(program: &str) -> (Board, Vec<Change>) {
    watched_with(program, &[], None)
}

/// The same, while interrupt lines change, and with an eye on a value in memory.
fn watched_with(
    program: &str,
    lines: &[(u64, u16, bool)],
    value: Option<Watched>,
) -> (Board, Vec<Change>) {
    let source = format!("{COUNT}\n {program}\n bkpt 0\n .pool\n");
    let mut boards = [Board::new(&source), Board::new(&source)];
    boards[1].core.watch(value);
    for board in &mut boards {
        board.lines = lines.to_vec();
        board.finish();
    }
    let [plain, mut watched] = boards;
    assert_eq!(
        plain.core.skipped_instructions(),
        watched.core.skipped_instructions()
    );
    assert!(plain.outcome() == watched.outcome());
    let changes = watched.core.take_changes();
    assert_eq!((changes[0].what, changes[0].cycle), (What::Reset, 0));
    (watched, changes)
}

/// The cycle and the value of each change of `what`.
fn of(changes: &[Change], what: What) -> Vec<(u64, u32)> {
    let kind = changes.iter().filter(|change| change.what == what);
    kind.map(|change| (change.cycle, change.value)).collect()
}

/// From each of these changes to the next, in cycles.
fn gaps(changes: &[(u64, u32)]) -> Vec<u64> {
    let pairs = changes.windows(2);
    pairs.map(|pair| pair[1].0 - pair[0].0).collect()
}

/// A word of the SRAM whose changes are told.
const WORD: Watched = Watched {
    pointer: None,
    address: SRAM + 0x100,
    bytes: 4,
};

fn values(changes: &[(u64, u32)]) -> Vec<u32> {
    changes.iter().map(|change| change.1).collect()
}

/// From each of these registers, which hold CYCCNT, to the next.
fn read(board: &Board, registers: &[usize]) -> Vec<u64> {
    let pairs = registers.windows(2);
    pairs
        .map(|pair| u64::from(board.r(pair[1]) - board.r(pair[0])))
        .collect()
}

#[test]
fn a_section_of_known_length_is_as_long() {
    let mut lengths = Vec::new();
    for length in 2..40 {
        for (mask, unmask) in [
            ("cpsid i", "cpsie i"),
            ("msr primask, r1", "msr primask, r0"),
        ] {
            let program = format!("movs r0, #0\n movs r1, #1\n {mask}\n ldr r5, [r11]\n .rept {length}\n adds r2, #1\n .endr\n {unmask}\n ldr r6, [r11]");
            let (board, changes) = watched(&program);
            let masks = of(&changes, What::Primask);
            assert_eq!(values(&masks), [1, 0]);
            assert_eq!(gaps(&masks), read(&board, &[5, 6]), "{mask}, {length}");
            if mask == "cpsid i" {
                lengths.push(gaps(&masks)[0]);
            }
        }
    }
    let steps = lengths.windows(2).map(|pair| pair[1] - pair[0]);
    assert!(steps.eq([1; 37]), "an addition is a cycle: {lengths:?}");
}

#[test]
fn the_place_is_that_of_the_instruction() {
    let (board, changes) = watched("adr r2, 1f\n1: cpsid i\n nop\n cpsie i");
    let places: Vec<u32> = changes.iter().skip(1).map(|change| change.pc).collect();
    assert_eq!(places, [board.r(2), board.r(2) + 4]);
}

#[test]
fn each_value_lasts_as_long_as_the_program_measures() {
    for (program, what, of_change, loads) in [
        ("movs r0, #0x80\n movs r1, #0x40\n movs r2, #0xc0\n movs r3, #0\n msr basepri, r0\n ldr r4, [r11]\n adds r7, #1\n msr basepri_max, r1\n ldr r5, [r11]\n msr basepri_max, r2\n msr basepri, r0\n ldr r6, [r11]\n muls r7, r7\n adds r7, #1\n msr basepri, r3\n ldr r8, [r11]", What::Basepri, &[0x80, 0x40, 0x80, 0][..], &[4, 5, 6, 8][..]),
        // Not at NMI's priority (B1.4.3).
        ("cpsid f\n ldr r5, [r11]\n adds r2, #1\n cpsie f\n ldr r6, [r11]\n poke ICSR, 0x80000000\n nop\n b 2f\n .pool\n function nmi\n cpsid f\n bx lr\n2:", What::Faultmask, &[1, 0], &[5, 6]),
        ("ldr r12, =0x20000100\n movs r0, #0\n movs r1, #1\n str r1, [r12]\n add.w r2, r2, #1\n ldr r5, [r11]\n str r0, [r12]\n add.w r2, r2, #1\n ldr r6, [r11]", What::Word, &[1, 0], &[5, 6]),
        // While the DWT profiles.
        ("poke CTRL, 0x003e0001\n cpsid i\n ldr r5, [r11]\n adds r2, #1\n cpsie i\n ldr r6, [r11]", What::Primask, &[1, 0], &[5, 6]),
    ] {
        let (board, changes) = watched_with(program, &[], Some(WORD));
        let changes = of(&changes, what);
        assert_eq!(values(&changes), of_change, "{program}");
        assert_eq!(gaps(&changes), read(&board, loads), "{program}");
    }
}

#[test]
fn what_is_not_changed_is_not_told() {
    for (program, what, of_change) in [
        (
            "movs r0, #0x5f\n msr basepri, r0",
            What::Basepri,
            &[0x50][..],
        ), // a level has four bits
        (
            "poke ISER, 1\n cpsid i\n poke ISPR, 1\n wfi\n sev\n wfe",
            What::Sleep,
            &[],
        ), // no wait
        // A mask that a handler leaves set stays.
        (
            "svc 0\n b 2f\n function svcall\n cpsid i\n bx lr\n2: nop",
            What::Primask,
            &[1],
        ),
    ] {
        let (_, changes) = watched(program);
        assert_eq!(values(&of(&changes, what)), of_change, "{program}");
    }
}

#[test]
fn what_pends_all_the_while_is_taken_where_the_mask_ends() {
    for (mask, unmask, what) in [
        ("cpsid i", "cpsie i", What::Primask),
        ("cpsid f", "cpsie f", What::Faultmask),
        ("msr basepri, r2", "msr basepri, r3", What::Basepri),
    ] {
        let (_, changes) = watched_with(&format!("poke ISER, 1\n poke IPR, 0x80\n movs r2, #0x80\n movs r3, #0\n {mask}\n .rept 60\n nop\n .endr\n {unmask}\n nop\n b 2f\n .pool\n function irq0\n bx lr\n2:"), &[(60, 0, true), (70, 0, false)], None);
        let masks = of(&changes, what);
        assert!(masks[0].0 < 60 && masks[1].0 > 70, "{masks:?}");
        let entry = changes.iter().find(|change| change.began.is_some());
        assert_eq!(entry.unwrap().began, Some(masks[1].0), "{mask}");
    }
}

/// The numbers of the exceptions, of these changes of it.
fn numbers(entries: &[(u32, u64, u64)]) -> Vec<u32> {
    entries.iter().map(|entry| entry.0).collect()
}

/// Value, `began` and `cycle` of each change of the exception.
fn exceptions(changes: &[Change]) -> Vec<(u32, u64, u64)> {
    let mode = changes
        .iter()
        .filter(|change| change.what == What::Exception);
    mode.map(|change| (change.value, change.began.unwrap(), change.cycle))
        .collect()
}

#[test]
fn an_entry_and_a_return_take_what_the_program_sees() {
    let (board, changes) = watched("cpsid i\n ldr r4, [r11]\n cpsie i\n svc 0\n ldr r6, [r11]\n b 2f\n function svcall\n ldr r5, [r11]\n bx lr\n2:");
    let found = exceptions(&changes);
    assert_eq!(numbers(&found), [11, 0]);
    let mask = of(&changes, What::Primask)[0].0;
    let seen = read(&board, &[4, 5, 6]);
    assert_eq!([found[0].2 - mask, found[1].2 - found[0].2], seen[..]);
    assert_eq!(found[0].2 - found[0].1, 12, "TRM 3.9.1");
    // The handler is a load (2) and a branch (1), of which the return's instruction is the end.
    assert!((2..=3).contains(&(found[1].1 - found[0].2)), "{found:?}");
}

#[test]
fn a_handler_is_preempted_and_gone_back_to() {
    let (board, changes) = watched("poke ISER, 3\n poke IPR, 0x4080\n poke ISPR, 1\n nop\n b 2f\n .pool\n function irq0\n ldr r4, [r11]\n poke ISPR, 2\n ldr r6, [r11]\n bx lr\n .pool\n function irq1\n ldr r5, [r11]\n bx lr\n .pool\n2:");
    let found = exceptions(&changes);
    assert_eq!(numbers(&found), [16, 17, 16, 0]);
    let [low, high, back] = [0, 1, 2].map(|n| found[n].2);
    assert_eq!([high - low, back - high], read(&board, &[4, 5, 6])[..]);
}

#[test]
fn a_tail_chain_begins_with_the_return_before_it() {
    // Both have one priority, so that the second waits for the end of the first.
    let (board, changes) = watched("poke ISER, 3\n poke ISPR, 3\n nop\n b 2f\n .pool\n function irq0\n ldr r4, [r11]\n bx lr\n function irq1\n ldr r5, [r11]\n bx lr\n2:");
    let found = exceptions(&changes);
    assert_eq!(numbers(&found), [16, 17, 0]);
    assert_eq!(found[1].2 - found[0].2, read(&board, &[4, 5])[0]);
    assert_eq!(found[1].2 - found[1].1, 6, "a tail chain (TRM 3.9.1)");
    assert!(found[1].1 - found[0].2 <= 3, "{found:?}");
}

#[test]
fn a_late_arrival_is_one_entry() {
    // Line 1 is above line 0, and rises while the frame of line 0 is stacked.
    let program = "poke ISER, 3\n poke IPR, 0x4080\n .rept 100\n nop\n .endr\n b 2f\n .pool\n function irq0\n bx lr\n function irq1\n bx lr\n2:";
    let lines = [(80, 0, true), (84, 1, true), (90, 0, false), (90, 1, false)];
    let (_, changes) = watched_with(program, &lines, None);
    let found = exceptions(&changes);
    assert_eq!(numbers(&found), [17, 16, 0]);
    assert!(
        (80..84).contains(&found[0].1),
        "it began for line 0: {found:?}"
    );
}

#[test]
fn sleep_ends_though_primask_keeps_the_interrupt_out() {
    let (board, changes) = watched_with("poke ISER, 1\n cpsid i\n wfi\n ldr r5, [r11]\n .rept 9\n adds r2, #1\n .endr\n cpsie i\n ldr r6, [r11]\n b 2f\n .pool\n function irq0\n bx lr\n2:", &[(1_000, 0, true), (1_040, 0, false)], None);
    let slept = of(&changes, What::Sleep);
    assert_eq!(values(&slept), [1, 0]);
    assert_eq!(slept[1].0, 1_000);
    let unmasked = of(&changes, What::Primask)[1].0;
    assert_eq!(exceptions(&changes)[0].1, unmasked);
    let after = u64::from(board.r(6) - board.r(5));
    assert!(
        unmasked - slept[1].0 < after,
        "the second load waited for the handler"
    );
}

#[test]
fn sleep_on_exit_begins_where_the_return_is_complete() {
    let (_, changes) = watched_with(".equ SCR, 0xE000ED10\n poke ISER, 1\n poke SCR, 2\n wfi\n bkpt 1\n .pool\n function irq0\n add r8, #1\n cmp r8, #2\n beq 2f\n bx lr\n2:", &[(1_000, 0, true), (1_002, 0, false), (2_000, 0, true)], None);
    let slept = of(&changes, What::Sleep);
    assert_eq!(values(&slept), [1, 0, 1, 0]);
    let back = exceptions(&changes)[1];
    assert_eq!((back.0, back.2), (0, slept[2].0));
    assert_eq!([slept[1].0, slept[3].0], [1_000, 2_000]);
}

#[test]
fn a_return_clears_faultmask_where_it_begins() {
    let (_, changes) = watched("svc 0\n b 2f\n function svcall\n cpsid f\n nop\n bx lr\n2: nop");
    let masks = of(&changes, What::Faultmask);
    assert_eq!(values(&masks), [1, 0]);
    assert_eq!(masks[1].0, exceptions(&changes)[1].1);
}

fn rows(changes: &[Change]) -> Vec<(What, u32)> {
    changes.iter().map(|row| (row.what, row.value)).collect()
}

#[test]
fn priorities_enables_and_grouping_are_told_one_by_one() {
    let (_, changes) = watched("poke IPR, 0x00400080\n poke ISER, 6\n poke 0xE000E180, 2\n poke SHPR3, 0xff000000\n poke SHCSR, 0x40000\n poke AIRCR, 0x05fa0300");
    assert_eq!(
        rows(&changes[1..]),
        [
            (What::Priority, 16 << 8 | 0x80),
            (What::Priority, 18 << 8 | 0x40),
            (What::Enabled, 17 << 1 | 1),
            (What::Enabled, 18 << 1 | 1),
            (What::Enabled, 17 << 1),
            (What::Priority, 15 << 8 | 0xF0),
            (What::Enabled, 6 << 1 | 1),
            (What::Prigroup, 3),
        ]
    );
    let [first, second] = [changes[1].cycle, changes[2].cycle];
    assert_eq!(first, second, "one store");
}

#[test]
fn every_kind_of_store_to_the_word_is_seen() {
    for (store, value) in [
        ("str r1, [r12]", 0x01020304),
        ("strb r1, [r12]", 0x04),
        ("strh r1, [r12, #2]", 0x0304_0000),
        ("str r1, [r12, #-2]", 0x0102),
        ("str r1, [r12, #1]", 0x0203_0400),
        ("strd r0, r1, [r12, #-4]", 0x01020304),
        ("stm r12, {r1, r2}", 0x01020304),
        ("stmdb r3, {r0, r1, r2}", 0x01020304),
        ("mov sp, r3\n push {r0, r1, r2}", 0x01020304),
        ("ldrex r4, [r12]\n strex r4, r1, [r12]", 0x01020304),
        ("ldr r4, =0x22002000\n movs r6, #1\n str r6, [r4]", 1),
        ("poke CPACR, 0xf00000\n vmov s0, r2\n movw r1, #0x304\n movt r1, #0x102\n vmov s1, r1\n vstmia r12, {s1}", 0x01020304),
    ] {
        let program = format!("ldr r12, =0x20000100\n add r3, r12, #8\n ldr r1, =0x01020304\n movs r0, #0\n movs r2, #7\n {store}\n movs r0, #0\n str r0, [r12]\n str r1, [r12, #4]\n strb r1, [r12, #-1]");
        let (_, changes) = watched_with(&program, &[], Some(WORD));
        let words = of(&changes, What::Word);
        assert_eq!(values(&words), [value, 0], "{store}");
        assert_eq!(changes.len(), 3, "{store}");
    }
}

/// Two blocks, each with a byte at offset 1: of the one that is pointed to, its byte is the value. A
/// change of the pointer is one of the value, too.
#[test]
fn a_value_behind_a_pointer_is_that_of_what_it_points_to() {
    let value = Watched {
        pointer: Some(SRAM),
        address: 1,
        bytes: 1,
    };
    let program = format!(
        "ldr r0, ={SRAM}\n add r1, r0, 0x100\n add r2, r0, 0x200\n movs r3, 7\n movs r4, 9
         strb r3, [r1, 1]\n strb r4, [r2, 1]
         str r1, [r0]\n strb r4, [r1, 2]\n strb r4, [r1]
         str r2, [r0]\n movs r5, 0\n strb r5, [r2, 1]
         str r1, [r0]\n str r5, [r0]"
    );
    let (_, changes) = watched_with(&program, &[], Some(value));
    assert_eq!(values(&of(&changes, What::Word)), [7, 9, 0, 7, 0]);
}

#[test]
fn masks_are_told_while_the_monitor_steps() {
    // MON_EN and MON_STEP: the monitor's handler runs after each instruction of the thread.
    let stepped = "poke DEMCR, 0x01050000\n movs r0, #0x80\n msr basepri, r0\n movs r0, #0\n msr basepri, r0\n b 2f\n .pool\n function debug_monitor\n add r8, #1\n cmp r8, #9\n bne 3f\n poke DEMCR, 0x01000000\n3: bx lr\n .pool\n2: nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop";
    let (board, changes) = watched(stepped);
    assert_eq!(values(&of(&changes, What::Basepri)), [0x80, 0]);
    let entries = exceptions(&changes)
        .iter()
        .filter(|row| row.0 == 12)
        .count();
    assert_eq!((entries, board.r(8)), (9, 9));
}

#[test]
fn a_watch_that_begins_in_a_handler_says_so() {
    let mut board = Board::new("cpsid f\n poke IPR, 0x80\n cpsie f\n svc 0\n bkpt 1\n .pool\n function svcall\n cpsid i\n bkpt 1\n cpsie i\n bkpt 0");
    board.stop();
    board.core.watch(None);
    let pc = board.core.pc();
    board.core.set_register(15, pc + 2);
    board.finish();
    let changes = board.core.take_changes();
    assert_eq!(
        rows(&changes),
        [
            (What::Reset, 0),
            (What::Exception, 11),
            (What::Primask, 1),
            (What::Priority, 16 << 8 | 0x80),
            (What::Primask, 0),
        ]
    );
}
