//! Branches and IT blocks.

use crate::core::board::{run, Board, CODE};
use cortex_m::Stop;

type Holds = fn(n: bool, z: bool, c: bool, v: bool) -> bool;

/// The conditions, and whether each holds for N, Z, C, V (A7.3).
const CONDITIONS: [(&str, Holds); 14] = [
    ("eq", |_, z, _, _| z),
    ("ne", |_, z, _, _| !z),
    ("cs", |_, _, c, _| c),
    ("cc", |_, _, c, _| !c),
    ("mi", |n, _, _, _| n),
    ("pl", |n, _, _, _| !n),
    ("vs", |_, _, _, v| v),
    ("vc", |_, _, _, v| !v),
    ("hi", |_, z, c, _| c && !z),
    ("ls", |_, z, c, _| !c || z),
    ("ge", |n, _, _, v| n == v),
    ("lt", |n, _, _, v| n != v),
    ("gt", |n, z, _, v| !z && n == v),
    ("le", |n, z, _, v| z || n != v),
];

#[test]
fn every_condition_for_all_flags_in_it_blocks_and_branches() {
    for (name, holds) in CONDITIONS {
        let mut board = Board::new(&format!(
            "msr apsr_nzcvq, r0\n movs.w r2, #0\n msr apsr_nzcvq, r0\n it {name}\n mov{name} r2, #1\n b{name} 1f\n mov r3, #0\n bkpt 0\n1: mov r3, #1\n bkpt 0"
        ));
        let entry = board.core.pc();
        for flags in 0..16u32 {
            board.core.set_register(0, flags << 28);
            board.core.set_register(15, entry);
            board.finish();
            let [n, z, c, v] = [3, 2, 1, 0].map(|bit| flags >> bit & 1 != 0);
            let expected = holds(n, z, c, v) as u32;
            assert_eq!(
                (board.r(2), board.r(3)),
                (expected, expected),
                "{name}, NZCV {flags:04b}"
            );
        }
    }
}

#[test]
fn narrow_instructions_in_it_blocks_leave_the_flags_alone() {
    let board = run("movs r0, #0\n ite eq\n addeq r0, #5\n movne r0, #9\n ittee ne\n movne r1, #1\n movne r2, #1\n moveq r1, #2\n moveq r2, #2");
    assert_eq!((board.r(0), board.r(1), board.r(2)), (5, 2, 2));
    assert_eq!(
        board.core.xpsr() >> 30 & 1,
        1,
        "Z is still that of the first instruction"
    );
}

#[test]
fn comparisons_in_it_blocks_set_flags() {
    let board =
        run("movs r0, #1\n movs r1, #2\n cmp r0, r0\n itt eq\n cmpeq r0, r1\n moveq r2, #7");
    assert_eq!(
        board.r(2),
        0,
        "the second condition sees the flags of the first instruction"
    );
}

#[test]
fn compare_and_branch() {
    let board = run("movs r0, #0\n movs r1, #1\n cbz r0, 1f\n movs r2, #9\n1: cbnz r1, 2f\n movs r2, #9\n2: cbnz r0, 3f\n adds r3, r1, #4\n3:");
    assert_eq!((board.r(2), board.r(3)), (0, 5));
}

#[test]
fn calls_leave_the_return_address_with_bit_0_set() {
    let mut board = Board::new("bl 1f\n bkpt 0\n1: mov r1, lr\n adr r2, 2f + 1\n mov r4, lr\n blx r2\n3: bx r4\n.balign 4\n2: mov r3, lr\n bx lr");
    board.finish();
    let start = board.r(1) - 5;
    assert_eq!(board.r(1) & 1, 1);
    assert_eq!(board.r(1), start + 5);
    assert_eq!(board.r(3) & 1, 1);
}

#[test]
fn table_branches_count_halfwords() {
    let board = run("movs r0, #2\n tbb [pc, r0]\n1: .byte (2f-1b)/2, (2f-1b)/2, (3f-1b)/2, 0\n2: movs r1, #2\n b 4f\n3: movs r1, #3\n4: movs r0, #1\n tbh [pc, r0, lsl #1]\n5: .short 0, (7f-5b)/2\n6: movs r2, #6\n7: adds r2, #1");
    assert_eq!((board.r(1), board.r(2)), (3, 1));
}

#[test]
fn a_load_to_pc_interworks() {
    let mut board = Board::new("ldr r0, =1f + 1\n push {r0}\n pop {pc}\n bkpt 1\n .balign 4\n1: movs r1, #1\n adr r2, 2f\n ldr pc, [r2]\n bkpt 2\n .balign 4\n2: .word 3f + 1\n3: bkpt 0\n .pool");
    board.finish();
    assert_eq!(board.r(1), 1);
}

#[test]
fn leaving_thumb_state_is_a_usage_fault_at_the_target() {
    let mut board = Board::new("ldr r0, =0x08000200\n bx r0\n .pool\n function hard_fault\n ldr r1, [sp, #24]\n ldr r2, =CFSR\n ldr r2, [r2]\n bkpt 0");
    board.finish();
    assert_eq!((board.r(1), board.r(2)), (CODE + 0x200, 1 << 17));
}

#[test]
fn a_breakpoint_stops_with_its_number() {
    let stop = Board::new("movs r0, #1\n cmp r0, #2\n it eq\n bkpt 77").stop();
    assert!(
        matches!(stop, Stop::Breakpoint { immediate: 77, .. }),
        "BKPT is unconditional: {stop}"
    );
}
