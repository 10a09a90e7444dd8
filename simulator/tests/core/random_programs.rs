//! Random programs, executed by the fast paths and by the plain way: one instruction at a time, each
//! access to memory by itself.

use crate::core::board::Board;
use crate::core::profile::{ALL, DEMCR, DWT_CTRL};
use crate::support::random::Random;
use cortex_m::Timing;

const FUNCTIONS: u32 = 6;

/// R8 points to a table in flash, R9 to words in SRAM, R10 to the device. The program calls each
/// function sixty times. Functions are far enough apart to lie in different pages of the code cache.
fn program(random: &mut Random) -> String {
    let mut source = String::from(
        "poke ISER, 1\n poke DEMCR, 0x01000000\n ldr r0, =FLASH_ACR\n movw r1, #0x702\n str r1, [r0]
        ldr r8, =table\n ldr r9, =0x20000100\n ldr r10, =DEVICE\n mov r11, #60\n 1:\n",
    );
    for function in 0..FUNCTIONS {
        source += &format!("bl f{function}\n");
    }
    source += "subs r11, #1\n bne 1b\n bkpt 0\n .pool
        .balign 4\n table:\n .irp n, 3, 1, 4, 1, 5, 9, 2, 6\n .word \\n * 0x10203\n .endr
        function irq0\n push {r4, r5}\n adds r0, #1\n str r0, [r9, #60]\n pop {r4, r5}\n bx lr\n";
    for function in 0..FUNCTIONS {
        source += &format!(".balign 8192\n .space {}\n", 2 * random.below(40));
        source += &format!("function f{function}\n push {{r4-r7, lr}}\n");
        for label in 0..6 {
            source += &block(random, label);
        }
        source += "pop {r4-r7, pc}\n .pool\n";
    }
    source
}

/// Some instructions, and a branch around the last of them.
fn block(random: &mut Random, label: u32) -> String {
    let mut block: String = (0..random.below(6)).map(|_| instruction(random)).collect();
    block += &match random.below(5) {
        0 => format!("cbz r{}, 1{label}f\n", random.below(8)),
        1 => format!("cbnz r{}, 1{label}f\n", random.below(8)),
        2 => format!("b 1{label}f\n"),
        _ => format!("b{} 1{label}f\n", one_of(random, &CONDITIONS)),
    };
    block += &(0..random.below(5))
        .map(|_| instruction(random))
        .collect::<String>();
    block + &format!("1{label}:\n")
}

const CONDITIONS: [&str; 8] = ["eq", "ne", "cs", "cc", "mi", "hi", "ge", "le"];

/// `D`, `N` and `M` become low registers, `I` a small number, `W` the offset of a word.
const TEMPLATES: [&str; 44] = [
    "mov D, M",
    "movs D, #I",
    "mov.w D, #I",
    "movw D, #0x1234",
    "mvns D, M",
    "mvn.w D, M",
    "adds D, N, M",
    "add.w D, N, M",
    "adds D, #I",
    "add.w D, N, M, lsl #3",
    "subs D, N, M",
    "sub.w D, N, #I",
    "rsbs D, N, #0",
    "cmp N, M",
    "cmp N, #I",
    "tst N, M",
    "tst.w N, #0xF0",
    "tst.w N, #0xF0000000",
    "ands D, M",
    "and.w D, N, #0xFF",
    "orrs D, M",
    "orr.w D, N, M",
    "eors D, M",
    "eor.w D, N, M",
    "eor.w D, N, M, lsr #5",
    "lsls D, M, #I",
    "lsl.w D, M, #3",
    "lsrs D, M, #7",
    "asrs D, M, #2",
    "uxtb D, M",
    "uxth D, M",
    "ubfx D, N, #4, #9",
    "muls D, M",
    "udiv D, N, M",
    "ldr D, [r9, #W]",
    "ldrh D, [r9, #W]",
    "ldrb D, [r9, #W]",
    "str D, [r9, #W]",
    "strh D, [r9, #W]",
    "strb D, [r9, #W]",
    "ldr D, [r8, #W]",
    "ldrb D, [r8, #W]",
    "ldr D, =0x12345678",
    "str D, [r10, #W]",
];
/// More than one instruction, or none that moves just one register.
const OTHERS: [&str; 9] = [
    "and.w D, N, #28\n ldr D, [r9, D]",
    "and.w D, N, #7\n ldr D, [r8, D, lsl #2]",
    "add.w r12, r9, #64\n stm r12, {r0-r3}",
    "add.w r12, r9, #64\n ldm r12!, {r0, r2, r5}",
    "push {r0-r2}\n pop {r0, r1, r3}",
    "ldrd r0, r1, [r9, #8]",
    "itt eq\n moveq D, N\n ldreq D, [r9]",
    "ite cs\n addcs D, N, M\n strcc D, [r9, #4]",
    "nop",
];

fn instruction(random: &mut Random) -> String {
    let template = match random.below(5) {
        0 => one_of(random, &OTHERS),
        _ => one_of(random, &TEMPLATES),
    };
    let register = |random: &mut Random| format!("r{}", random.below(8));
    let template = template.replace('D', &register(random));
    let template = template.replace('N', &register(random));
    let template = template.replace('M', &register(random));
    let template = template.replace('I', &random.below(32).to_string());
    template.replace('W', &(4 * random.below(8)).to_string()) + "\n"
}

fn one_of<'a>(random: &mut Random, choices: &[&'a str]) -> &'a str {
    choices[random.below(choices.len() as u32) as usize]
}

/// Everything that a run leaves, and when.
fn outcome(mut board: Board, plain: bool) -> impl PartialEq {
    if plain {
        // While an event is counted, the core accounts for each instruction by itself.
        board.debug_write(DEMCR, 1 << 24);
        board.debug_write(DWT_CTRL, ALL);
        board.memory.in_one_go = false;
    }
    board.finish();
    assert!(board.core.instructions() > 5_000, "the program ends early");
    board.outcome()
}

#[test]
fn random_programs_end_alike_on_the_fast_and_the_plain_way() {
    for seed in 1..=12 {
        let source = program(&mut Random(seed));
        for timing in [Timing::Nucleo, Timing::Ideal] {
            let [fast, plain] = [false, true].map(|plain| {
                let mut board = Board::with_timing(&source, timing);
                let rises = |n| u64::from(seed) * 7 + 97 * n;
                board.lines = (1..400_u64)
                    .flat_map(|n| [(rises(n), 0, true), (rises(n) + 13, 0, false)])
                    .collect();
                outcome(board, plain)
            });
            assert!(fast == plain, "seed {seed}, {timing:?}:\n{source}");
        }
    }
}
