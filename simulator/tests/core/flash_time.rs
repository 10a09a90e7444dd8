//! What fetching from flash costs: the prefetch unit, wait states, the accelerator. Expected cycles
//! are worked out by hand from docs/reference/timing.md. A comment beside each says how.

use crate::core::board::finished;

/// FLASH_ACR: two wait states, as at 84 MHz, and the accelerator off or on.
const OFF: u32 = 0x002;
const PREFETCH: u32 = 0x102;
const CACHES: u32 = 0x602;
const ON: u32 = 0x702;

/// Cycles for a line of straight code. `count` of `instruction` fill a line. Measured as 32 lines
/// less 16.
fn per_line(instruction: &str, count: u32, access_control: u32) -> u32 {
    let cycles = |lines: u32| {
        let source = format!(
            "poke DEMCR, 0x01000000\n poke CTRL, 1\n poke FLASH_ACR, {access_control}\n
             ldr r11, =CYCCNT\n b 1f\n .pool\n
             .balign 16\n 1: ldr r9, [r11]\n .rept {}\n {instruction}\n .endr\n
             ldr r10, [r11]\n bkpt 0\n .pool",
            lines * count
        );
        let board = finished(&source);
        board.r(10) - board.r(9)
    };
    (cycles(32) - cycles(16)) / 16
}

/// Walks `blocks` blocks. The code is the inner loop of the article's segregated list, as gcc 12
/// -O2 compiles it; ours is the same.
fn walk_cycles(blocks: u32, offset: usize, access_control: u32) -> u32 {
    let source = format!(
        "poke DEMCR, 0x01000000\n poke CTRL, 1\n poke FLASH_ACR, {access_control}\n
         ldr r0, =0x20000100\n movs r5, #{blocks}\n
         1: adds r1, r0, #32\n str r1, [r0, #16]\n mov r0, r1\n subs r5, #1\n bne 1b\n
         movs r1, #0\n subs r0, #32\n str r1, [r0, #16]\n
         ldr r11, =CYCCNT\n ldr r4, =0x1000\n movs r3, #0\n ldr r0, =0x20000100\n
         ldr r9, [r11]\n b 2f\n .pool\n
         .balign 16\n .skip {offset}, 0\n
         1: ldr r0, [r0, #16]\n cbz r0, 3f\n
         2: ldr r2, [r0, #4]\n cmp r2, r4\n add.w r3, r3, #1\n bcc 1b\n
         nop\n 3: ldr r10, [r11]\n bkpt 0\n .pool"
    );
    let board = finished(&source);
    assert_eq!(board.r(3), blocks, "the loop looks at each block");
    board.r(10) - board.r(9)
}

fn per_block(offset: usize, access_control: u32) -> f64 {
    f64::from(walk_cycles(220, offset, access_control) - walk_cycles(20, offset, access_control))
        / 200.0
}

#[test]
fn narrow_code_hides_the_reading_of_lines() {
    // A line takes eight cycles of work. The next line is requested when the word three before it
    // leaves, six cycles before it is needed.
    assert_eq!(per_line("adds r1, #1", 8, OFF), 8);
}

#[test]
fn wide_code_waits_for_each_line_unless_it_is_prefetched() {
    // A line is four words, one for each cycle, and two wait states: RM0368 §3.4.2, figure
    // "Sequential 32-bit instruction execution".
    assert_eq!(per_line("add.w r1, r1, #1", 4, OFF), 4 + 2);
    assert_eq!(per_line("add.w r1, r1, #1", 4, 0x004), 4 + 4);
    assert_eq!(per_line("add.w r1, r1, #1", 4, 0x000), 4);
    // The prefetch begins when the line before it has arrived. It takes three cycles, and the work
    // takes four.
    assert_eq!(per_line("add.w r1, r1, #1", 4, PREFETCH), 4);
}

#[test]
fn the_walk_costs_what_its_place_in_a_line_makes_it() {
    // Without waiting: 2 + 1 + 2 + 1 + 1 + 2 (B is resolved at decode).
    assert_eq!(per_block(0, 0x000), 9.0);
    // t = 0: LDR. Within one line the buffer is full with three words. CMP (t = 5) frees the second
    // word and the bus is free, so the next line is read until 8. BCC (t = 7) resolves in 6. Its
    // target is requested in 8, must be read again, arrives in 11 and executes in 13.
    assert_eq!(per_block(0, OFF), 13.0);
    // Two bytes later, the second LDR (t = 3) already frees the word before the next line, which
    // arrives in 6. The target is requested in 6, arrives in 9 and executes in 11.
    assert_eq!(per_block(2, OFF), 11.0);
    // With all lines cached, nothing waits.
    for offset in (0..16).step_by(2) {
        assert_eq!(per_block(offset, CACHES), 9.0, "{offset}");
        assert_eq!(per_block(offset, ON), 9.0, "{offset}");
    }
}

/// Cycles from before `branch` to its target, three lines later. `branch` has 16 bits and is
/// `offset` bytes into a line.
fn branch_cycles(branch: &str, offset: usize, access_control: u32) -> u32 {
    let source = format!(
        "poke DEMCR, 0x01000000\n poke CTRL, 1\n poke FLASH_ACR, {access_control}\n
         ldr r11, =CYCCNT\n ldr lr, =2f + 1\n b 1f\n .pool\n
         .balign 16\n 1: .rept {}\n nop\n .endr\n ldr r9, [r11]\n adds r1, #1\n adds r1, #1\n {branch}\n
         .balign 16\n .skip 32, 0\n 2: ldr r10, [r11]\n bkpt 0\n .pool",
        5 + offset / 2
    );
    let board = finished(&source);
    board.r(10) - board.r(9)
}

#[test]
fn a_return_fetches_meanwhile_what_a_branch_does() {
    // Both targets are known in decode (docs/reference/timing.md). What is fetched after the branch until
    // then keeps the array busy.
    let mut lengths = std::collections::BTreeSet::new();
    for access_control in [0x000, OFF, 0x005, PREFETCH, CACHES, ON] {
        for offset in (0..16).step_by(2) {
            let cycles = branch_cycles("b.n 2f", offset, access_control);
            assert_eq!(
                branch_cycles("bx lr", offset, access_control),
                cycles,
                "{access_control:#x}, {offset} bytes into the line"
            );
            lengths.insert(cycles);
        }
    }
    assert!(lengths.len() > 2, "{lengths:?}");
}

#[test]
fn data_in_flash_waits_unless_its_line_is_cached() {
    // Two words in different lines are read in turn, with two wait states each. The code is cached
    // and does not use the array.
    let cycles = |access_control: u32| {
        let turns = |count: u32| {
            let source = format!(
                "poke DEMCR, 0x01000000\n poke CTRL, 1\n poke FLASH_ACR, {access_control}\n
                 ldr r11, =CYCCNT\n ldr r5, =0x0800F000\n ldr r6, =0x0800F100\n movs r4, #{count}\n
                 ldr r9, [r11]\n b 1f\n .pool\n .balign 16\n
                 1: ldr r1, [r5]\n mov r3, r3\n ldr r2, [r6]\n mov r3, r3\n subs r4, #1\n bne 1b\n
                 ldr r10, [r11]\n bkpt 0\n .pool"
            );
            let board = finished(&source);
            board.r(10) - board.r(9)
        };
        (turns(20) - turns(10)) / 10
    };
    const INSTRUCTIONS_CACHED: u32 = 0x202;
    // 2 + 1 + 2 + 1 + 1 + 2.
    assert_eq!(cycles(CACHES), 9);
    assert_eq!(cycles(INSTRUCTIONS_CACHED), 9 + 2 * 2);
}

/// The rows of docs/reference/timing.md. `cargo test --test all walk_by_place -- --nocapture` prints them.
#[test]
fn walk_by_place() {
    for (name, access_control) in [("off", OFF), ("prefetch", PREFETCH), ("on", ON)] {
        let row: Vec<f64> = (0..32)
            .step_by(2)
            .map(|offset| per_block(offset, access_control))
            .collect();
        println!("accelerator {name}: cycles per block by start modulo 32 (even): {row:?}");
        // With the accelerator off, about 12 cycles for each block were measured, of a loop that GCC
        // aligns to words in its object. Nothing was measured at the other starts.
        let within = |cycles: f64, limit: f64| (cycles - 12.0).abs() <= limit * 12.0;
        let starts = row.iter().zip((0..32).step_by(2));
        let near =
            |(cycles, start): (&f64, i32)| within(*cycles, if start % 4 == 0 { 0.1 } else { 0.2 });
        assert!(access_control != OFF || starts.clone().all(near), "{row:?}");
    }
}
