//! Cycle counts, CYCCNT and SysTick.

use crate::core::board::{finished, finished_in_slices, finished_with, run, Board, STACK_TOP};
use cortex_m::Timing;

/// Starts CYCCNT; r11 = CYCCNT's address.
const COUNT: &str = "poke DEMCR, 0x01000000\n poke CTRL, 1\n ldr r11, =CYCCNT\n";

/// Cycles of `program` with `timing`, between two reads of CYCCNT, less those of an empty program.
fn cycles_with(program: &str, timing: Timing) -> u32 {
    let measure = |program: &str| {
        let source = format!("{COUNT} ldr r12, =0x20000100\n mov r8, #8\n nop\n b 1f\n .pool\n .balign 16\n1: ldr r9, [r11]\n mov.w r7, r7\n {program}\n mov.w r7, r7\n ldr r10, [r11]\n bkpt 0\n .pool");
        let mut board = Board::with_timing(&source, timing);
        board.finish();
        board.r(10) - board.r(9)
    };
    measure(program) - measure("")
}

fn cycles(program: &str) -> u32 {
    cycles_with(program, Timing::Nucleo)
}

#[test]
fn single_instructions_cost_what_the_manual_says() {
    for (program, expected) in [
        ("adds r0, r1, r2", 1),
        ("add.w r0, r1, r2, lsl #3", 1),
        ("mul r0, r1, r2", 1),
        ("umull r0, r1, r2, r3", 1),
        ("mla r0, r1, r2, r3", 1),
        ("mls r0, r1, r2, r3", 1),
        ("ldr r0, [r12]", 2),
        ("str r0, [r12]", 1),
        ("str r0, [r12, r8]", 2),
        ("ldrd r0, r1, [r12]", 3),
        ("stm r12, {r0-r3}", 5),
        ("ldm r12, {r0-r3}", 5),
        ("push {r0-r3}\n add sp, #16", 6),
        ("beq.w 2f\n2:", 2),
        ("bne 2f\n nop\n2:", 2),
        ("it eq\n addeq r0, #1", 2),
        ("mrs r0, basepri", 2),
    ] {
        let set_flags = cycles("cmp.w r8, r8");
        assert_eq!(
            cycles(&format!("cmp.w r8, r8\n {program}")) - set_flags,
            expected,
            "{program}"
        );
    }
}

#[test]
fn division_costs_by_the_quotient() {
    assert!(cycles("udiv r0, r12, r8") > 3);
    assert!(cycles("mvn r1, #0\n movs r2, #1\n udiv r0, r1, r2") <= 2 + 12);
}

const RUNS: [u32; 10] = [1, 2, 3, 4, 5, 6, 8, 10, 60, 120];

#[test]
fn aligned_loads_in_a_row_cost_one_more_than_their_number() {
    // TRM 3.3.3: N pipelined loads take N + 1 cycles. N + 1 a NOP after them too, which costs none.
    for count in RUNS {
        let loads = format!(".rept {count}\n ldr.w r0, [r12]\n .endr");
        assert_eq!(cycles(&loads), count + 1, "{count} loads");
        assert_eq!(
            cycles(&format!("{loads}\n nop.w")),
            count + 1,
            "{count} loads"
        );
    }
}

/// Cycles of `program`, which starts two bytes into a word, right behind `before` of 16 bits.
/// `before` may use r6, the address of a device.
fn unaligned(before: &str, program: &str) -> u32 {
    let behind =
        |program: &str| cycles(&format!("mov r6, r11\n nop\n nop.w\n {before}\n {program}"));
    behind(&format!("{program}\n mov r7, r7")) - behind("mov r7, r7")
}

/// A load that the loads and stores after it cannot overlap, since it is from another block.
const TWO_CYCLES: &str = "ldr r5, [r6]";

#[test]
fn a_group_of_unaligned_wide_instructions_costs_one_cycle_behind_one_of_several() {
    // compendium.i-0.nl, "Alignment rules": one extra cycle, from three on. IACR ePrint 2025/523:
    // a multi-cycle instruction and then three of them. The source's stores begin at four. Measured
    // on an STM32F407 as parts of whole routines (jnk0le, "cortexm-AES",
    // CM3_1T_AES128_keyschedule_enc): three EOR.W behind a 16-bit EORS lose nothing.
    let several = [TWO_CYCLES, "push {r0}"];
    for (instruction, first, costly) in [
        ("mov.w r7, r7", 0, &several[..]),
        ("umaal r0, r1, r2, r3", 0, &several),
        ("str.w r0, [r12]", 0, &several),
        ("ldr.w r0, [r12]", 1, &several[..1]),
    ] {
        for count in RUNS {
            let run = format!(".rept {count}\n {instruction}\n .endr");
            for before in costly.iter().chain(&["eors r0, r1"]) {
                let lost = u32::from(count >= 3 && before != &"eors r0, r1");
                assert_eq!(
                    unaligned(before, &run),
                    first + count + lost,
                    "{count} {instruction} behind {before}"
                );
            }
        }
    }
}

#[test]
fn a_mixed_group_can_cost_more_than_one_cycle() {
    // The same source. Each load takes two cycles, and three more instructions follow it.
    let three = "mov.w r7, r7\n mov.w r7, r7\n mov.w r7, r7";
    let load = "ldr.w r0, [r12]";
    for (program, own, lost) in [
        (three.to_string(), 3, 1),
        (format!("{three}\n {load}\n {three}"), 3 + 2 + 3, 2),
        (
            format!("{load}\n {three}\n {load}\n {three}"),
            2 * (2 + 3),
            2,
        ),
        (
            format!("{three}\n {load}\n mov.w r7, r7\n mov.w r7, r7"),
            3 + 2 + 2,
            1,
        ),
    ] {
        assert_eq!(unaligned(TWO_CYCLES, &program), own + lost, "{program}");
    }
}

/// The rules of docs/reference/timing.md for neighbours and branches. The instructions have 32 bits, so that
/// it does not matter how they lie in words. Each sum lists the costs of the instructions in order.
#[test]
fn neighbours_and_branches_cost_what_their_rules_say() {
    for (rule, program, expected) in [
        ("fewer bits than the divisor", "udiv r0, r8, r12", 3),
        ("by zero", "movs r1, #0\n udiv r0, r12, r1", 1 + 2),
        (
            "loads overlap",
            "ldr r0, [r12]\n ldr r1, [r12, #4]\n ldr r2, [r12, #8]",
            4,
        ),
        (
            "and a NOP with them",
            "ldr r0, [r12]\n nop.w\n ldr r1, [r12, #4]",
            4,
        ),
        (
            "not if the address depends",
            "str r12, [r12]\n ldr r0, [r12]\n ldr r1, [r0]",
            7,
        ),
        ("two transfers", "ldr r0, [r12, #2]", 3),
        ("three transfers", "ldr r0, [r12, #1]", 4),
        ("two bytes", "ldrh r0, [r12, #1]", 3),
        (
            "an address waits for a result",
            "add.w r12, r12, #0\n ldr.w r0, [r12]",
            1 + 1 + 2,
        ),
        (
            "so does a store's",
            "add.w r12, r12, #0\n str.w r0, [r12]",
            1 + 1 + 1,
        ),
        (
            "not with one between",
            "add.w r12, r12, #0\n mov.w r7, r7\n ldr.w r0, [r12]",
            1 + 1 + 2,
        ),
        (
            "a load waits behind a store",
            "str.w r0, [r12]\n ldr.w r1, [r12, #4]",
            1 + 1 + 2,
        ),
        (
            "a store overlaps with a load",
            "ldr.w r0, [r12]\n str.w r1, [r12, #4]",
            2,
        ),
        (
            "not between blocks",
            "ldr.w r0, [r12]\n ldr.w r1, [r11]",
            2 + 2,
        ),
        (
            "IT folds",
            "mov r7, r7\n it eq\n addeq r0, #1\n mov r7, r7",
            1 + 1 + 1,
        ),
        (
            "IT after 32 bits does not",
            "mov.w r7, r7\n it eq\n addeq r0, #1",
            1 + 1 + 1,
        ),
        (
            "CBZ resolves when executed",
            "mov.w r1, #0\n cbz r1, 2f\n nop\n2: mov.w r7, r7",
            1 + 3 + 1,
        ),
        ("B when decoded", "b.w 2f\n2: mov.w r7, r7", 2 + 1),
        (
            "BX LR when decoded",
            "adr.w lr, 2f+1\n mov.w r7, r7\n bx lr\n nop\n2:",
            1 + 1 + 2,
        ),
        (
            "BX when executed",
            "adr.w r1, 2f+1\n mov.w r7, r7\n bx r1\n nop\n2:",
            1 + 1 + 3,
        ),
        (
            "LDR PC after its data",
            "ldr.w pc, 3f\n3: .word 2f+1\n2: mov.w r7, r7",
            5 + 1,
        ),
    ] {
        assert_eq!(cycles(program), expected, "{rule}: {program}");
    }
}

#[test]
fn an_address_from_the_floating_point_unit_waits_only_for_what_is_late() {
    // Measured on an STM32F407 as parts of whole routines (multi-moduli-ntt-saber): a loop of 32
    // passes, each with two loads behind a VMOV of two registers, agrees only if the first of the
    // two is in time. Three transforms with VMOV and VLDM eight times agree only if VLDM waits for
    // nothing. Two routines with VMOV of one register and a load 32 times agree only if it waits.
    let set_up = "poke CPACR, 0xf00000\n dsb\n isb\n vmov s0, s1, r12, r12";
    let cost = |program: &str| {
        cycles(&format!("{set_up}\n mov.w r7, r7\n {program}"))
            - cycles(&format!("{set_up}\n mov.w r7, r7"))
    };
    for (rule, program, expected) in [
        ("one register", "vmov r0, s0\n ldr.w r1, [r0]", 1 + 1 + 2),
        (
            "the first of two",
            "vmov r0, r1, s0, s1\n ldr.w r2, [r0]",
            2 + 2,
        ),
        (
            "the second",
            "vmov r0, r1, s0, s1\n ldr.w r2, [r1]",
            2 + 1 + 2,
        ),
        ("VLDM", "vmov r0, s0\n vldmia r0, {s2-s4}", 1 + 4),
        ("VSTM", "vmov r0, s0\n vstmia r0, {s2-s4}", 1 + 1 + 4),
    ] {
        assert_eq!(cost(program), expected, "{rule}: {program}");
    }
}

#[test]
fn the_refill_depends_on_the_target() {
    let aligned = "b.w 2f\n .balign 4\n2: add.w r0, r0, r1\n mov.w r7, r7";
    let straddling = "b.w 2f\n .balign 4\n nop\n2: add.w r0, r0, r1\n mov r7, r7";
    assert_eq!(
        cycles_with(straddling, Timing::Nucleo) - cycles_with(aligned, Timing::Nucleo),
        1
    );
    assert_eq!(
        cycles_with(straddling, Timing::Ideal),
        cycles_with(aligned, Timing::Ideal)
    );
}

#[test]
fn a_device_write_and_a_counter_read_stay_a_constant_apart() {
    let body = "str r0, [r4]\n ldr r5, [r11]\n";
    for padding in 0..8 {
        let source = format!("{COUNT} ldr r4, =DEVICE\n {} {body} .rept 5\n mul r1, r1, r1\n .endr\n {body} bkpt 0\n .pool", "nop\n ".repeat(padding));
        let board = finished(&source);
        let first = board.memory.written[0].2;
        let second = board.memory.written[1].2;
        let mut again = Board::new(&source.replacen("ldr r5", "ldr r6", 1));
        again.finish();
        assert_eq!(
            u64::from(again.r(5) - again.r(6)),
            second - first,
            "padding {padding}"
        );
    }
}

#[test]
fn the_counter_counts_only_with_both_enables() {
    for (demcr, ctrl, counts) in [
        (0, 1, false),
        (0x0100_0000, 0, false),
        (0x0100_0000, 1, true),
    ] {
        let board = run(&format!("poke DEMCR, {demcr}\n poke CTRL, {ctrl}\n ldr r11, =CYCCNT\n movs r1, #50\n str r1, [r11]\n ldr r2, [r11]\n nop\n nop\n ldr r3, [r11]"));
        assert_eq!(board.r(3) - board.r(2), if counts { 3 } else { 0 });
        if !counts {
            assert_eq!(board.r(2), 50);
        }
    }
}

#[test]
fn entry_takes_twelve_cycles_and_tail_chaining_six() {
    // TRM 3.9.1; B1.5.12. Both lines rise in the same cycle, among one-cycle instructions. Each
    // handler records when its first store happens.
    let source = "poke IPR, 0x8040\n poke ISER, 3\n ldr r4, =DEVICE\n .rept 100\n nop\n .endr\n bkpt 0\n .pool\n function irq0\n str r0, [r4]\n bx lr\n function irq1\n str r0, [r4, #4]\n bx lr";
    let board = finished_with(
        source,
        &[(60, 0, true), (60, 1, true), (61, 0, false), (61, 1, false)],
    );
    let [first, second] = [0, 1].map(|n| board.memory.written[n].2);
    // A store is on the bus one cycle after it issues. BX LR issues one cycle after the store and
    // takes one cycle.
    assert_eq!(first, 60 + 12 + 1);
    assert_eq!(second - first, 2 + 6);
}

#[test]
fn systick_pends_every_reload_plus_one_cycles() {
    // B3.3.1.
    for (control, clock) in [(7, 1), (3, 8)] {
        let source = format!("ldr r4, =DEVICE\n poke SYST_RVR, 199\n poke SYST_CVR, 0\n poke SYST_CSR, {control}\n1: wfi\n b 1b\n .pool\n function systick\n ldr r5, [r4]\n str r5, [r4, #8]\n add r8, #1\n cmp r8, #4\n beq 2f\n bx lr\n2: bkpt 0");
        let board = finished(&source);
        let times: Vec<u64> = board.memory.written.iter().map(|w| w.2).collect();
        for pair in times.windows(2) {
            assert_eq!(pair[1] - pair[0], 200 * clock);
        }
    }
}

#[test]
fn a_deadline_ends_the_run_and_attention_before_the_next_instruction() {
    use cortex_m::RunEnd;
    let mut board = Board::new("ldr r0, =0x40000100\n str r0, [r0]\n movs r7, #1\n1: b 1b\n .pool");
    let end = board.core.run(&mut board.memory, 10_000).unwrap();
    assert_eq!((end, board.r(7)), (RunEnd::Attention, 0));
    board.memory.attention = false;
    assert_eq!(
        board.core.run(&mut board.memory, 10_000).unwrap(),
        RunEnd::Deadline
    );
    assert!((10_000..10_020).contains(&board.core.cycles()));
}

#[test]
fn splitting_a_run_changes_nothing() {
    let source = "poke SYST_RVR, 97\n poke SYST_CVR, 0\n poke SYST_CSR, 7\n movs r4, #0\n1: add r4, #1\n muls r5, r4\n ldr r6, [sp, #-8]\n cmp r4, #900\n bne 1b\n bkpt 0\n .pool\n function systick\n add r8, #1\n bx lr";
    assert!(finished_in_slices(source).r(8) > 10);
}

/// Two lines, of which the second has the higher priority. Each handler records when its first
/// store happens, a cycle after its issue. The frame of the first begins at cycle 60.
const TWO_LINES: &str = "poke IPR, 0x8040\n poke ISER, 3\n ldr r4, =DEVICE\n .rept 100\n nop\n .endr\n bkpt 0\n .pool\n function irq0\n str r0, [r4]\n bx lr\n function irq1\n str r0, [r4, #4]\n nop\n nop\n nop\n nop\n bx lr";

/// Offset and issue cycle of each handler's first store.
fn first_stores(late: u64) -> Vec<(u32, u64)> {
    let board = finished_with(
        TWO_LINES,
        &[
            (60, 1, true),
            (61, 1, false),
            (late, 0, true),
            (late, 0, false),
        ],
    );
    let written = board.memory.written.iter();
    written
        .map(|&(offset, _, cycle)| (offset, cycle - 1))
        .collect()
}

#[test]
fn a_higher_priority_takes_over_the_frame_or_preempts() {
    // Cortex-M3 TRM (DDI 0337) 5.7: a late arrival is possible until the first handler's first
    // instruction executes. Then a new vector and handler are fetched, which takes six cycles (ARM,
    // "What is the true interrupt latency of Cortex-M3 and Cortex-M4").
    for late in (61..=73).chain(78..=88) {
        let stores = match late {
            // The other one follows by tail-chaining. The store and BX LR take a cycle each.
            61..=66 => [(0, 72), (4, 72 + 2 + 6)],
            67..=72 => [(0, late + 6), (4, late + 6 + 2 + 6)],
            73 => [(4, 72), (0, late + 12)],
            // BX LR of the first handler executes at 77. The return takes ten cycles, of which eight
            // unstack.
            78..=85 => [(4, 72), (0, late + 6)],
            _ => [(4, 72), (0, 88 + 12)],
        };
        assert_eq!(first_stores(late), stores, "arrival at {late}");
    }
}

#[test]
fn a_late_arrival_does_not_stack_twice() {
    let board = finished_with(
        &TWO_LINES.replace("str r0, [r4]", "str sp, [r4]"),
        &[(60, 1, true), (61, 1, false), (70, 0, true), (71, 0, false)],
    );
    assert_eq!(board.memory.written[0].1, STACK_TOP - 32);
}
